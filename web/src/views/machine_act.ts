// machine_act.ts: drains a machine, lets it take jobs again, and forgets one that is away, for its owner and administrators.
import { api, ApiError, type Machine } from '../api';
import { useAct } from '../hooks';
import { routeLink } from '../route';
import { scopeHas, session } from '../session';
import { useStore } from '../store';

export const machineLink = (name: string): string => routeLink(['machines', name]);

const WAIT = 20;

export type MachineVerb = 'drain' | 'resume' | 'forget';

export function useMachineAct(machine: Machine): { may: boolean; run: (verb: MachineVerb, now?: boolean) => Promise<string | undefined>; value?: string; error?: ApiError; busy: boolean } {
  const who = useStore(session);
  const act = useAct(async (command: MachineVerb, now = false) => {
    if (command === 'forget') {
      await api.machineForget(machine.Id);
      return 'It is forgotten until it is heard of again.';
    }
    const { Number: number } = await api.command(machine.Agent, { Command: command, ...(now ? { Now: true } : {}) });
    const said = await api.commanded(number, WAIT);
    if (said.State !== 'done') return 'The machine has not answered yet; it is told when it does.';
    const words = said.Answer?.Words ?? said.Reason ?? said.Answer?.Reason ?? '';
    if (words && words !== 'ok') throw new ApiError(409, 'Refused', words);
    return command === 'drain' ? 'It takes no more jobs.' : 'It takes jobs again.';
  });
  return { may: scopeHas(who, 'admin') === true || (!!machine.Owner && machine.Owner === who.subject), ...act };
}
