/** For tests of actors and of everything else in the engine: a clock that the test moves, seeded chance, and a probe. */
import type { ActorKind } from './actor.ts'

export { ManualClock, SeededRandom } from '../../model/manual-clock.ts'

/** A kind of actor that notes every batch it gets. */
export function probe<T>(
  name = 'probe',
): ActorKind<T> & { readonly batches: { id: string; batch: readonly T[] }[]; closed: number } {
  const kind = {
    name,
    batches: [] as { id: string; batch: readonly T[] }[],
    closed: 0,
    create: (context: { id: string }) => ({
      receive: (batch: readonly T[]) => void kind.batches.push({ id: context.id, batch }),
      close: () => void kind.closed++,
    }),
  }
  return kind
}
