// machine_act.ts: drains a machine and lets it take jobs again, for its owner and administrators.
import { api, ApiError, type Machine } from '../api';
import { useAct } from '../hooks';
import { routeLink } from '../route';
import { scopeHas, session } from '../session';
import { useStore } from '../store';

export const machineLink = (name: string): string => routeLink(['machines', name]);

const WAIT = 20;

export function useMachineAct(machine: Machine): { may: boolean; run: (command: 'drain' | 'resume', now?: boolean) => Promise<string | undefined>; value?: string; error?: ApiError; busy: boolean } {
  const who = useStore(session);
  const act = useAct(async (command: 'drain' | 'resume', now = false) => {
    const { Number: number } = await api.command(machine.Agent, { Command: command, ...(now ? { Now: true } : {}) });
    const said = await api.commanded(number, WAIT);
    if (said.State !== 'done') return 'The machine has not answered yet; it is told when it does.';
    const words = said.Answer?.Words ?? said.Reason ?? said.Answer?.Reason ?? '';
    if (words && words !== 'ok') throw new ApiError(409, 'Refused', words);
    return command === 'drain' ? 'It takes no more jobs.' : 'It takes jobs again.';
  });
  return { may: scopeHas(who, 'admin') === true || (!!machine.Owner && machine.Owner === who.subject), ...act };
}
