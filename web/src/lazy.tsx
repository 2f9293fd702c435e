// lazy.tsx: a view that is fetched when it is first shown: what is there before the first paint stays small.
import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { inTurn } from './turns';

export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => JSX.Element {
  let there: ComponentType<P> | undefined;
  return (props) => {
    const [, setTurn] = useState(0), [fault, setFault] = useState(false);
    useEffect(() => {
      if (there) return;
      let gone = false;
      load().then((view) => { there = view; inTurn(() => { if (!gone) setTurn(1); }); }, () => { if (!gone) setFault(true); });
      return () => { gone = true; };
    }, []);
    const View = there;
    if (View) return <View {...props} />;
    return fault ? <p class="problem" role="alert">This view could not be fetched. The page may have been made anew: please load it again.</p> : <p class="quiet">Loading …</p>;
  };
}
