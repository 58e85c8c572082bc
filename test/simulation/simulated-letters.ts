/** Dead letters of a cluster: kept beside the streams, a while away, and not there every time. */
import type { Clock } from '../../model/clock.ts'
import type { Erased } from '../../model/erased.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import type { DeadLetter, LetterQuery, LetterStore, NewLetter } from '../../engine/link/dead-letters.ts'
import type { RunClock } from './run-clock.ts'

const MAX_LATENCY_MS = 20
const FAILURES = 0.2

export class SimulatedLetters implements LetterStore {
  private readonly letters: DeadLetter[]
  private readonly world: Clock
  private readonly clock: RunClock
  private readonly random: SeededRandom

  /** `letters` are those of all processes, `clock` is this one's. */
  constructor(letters: DeadLetter[], world: Clock, clock: RunClock, random: SeededRandom) {
    this.letters = letters
    this.world = world
    this.clock = clock
    this.random = random
  }

  get count(): number {
    return this.letters.length
  }

  put(letter: NewLetter): Promise<void> {
    return new Promise((resolve, reject) => {
      this.world.after(this.random.next() * MAX_LATENCY_MS, () => {
        const isKnown = this.letters.some(({ message }) => message.id === letter.message.id)
        if (!isKnown) this.letters.push({ ...letter, id: letter.message.sequence, time: this.world.now() })
        const isLost = this.random.chance(FAILURES)
        this.clock.arrive(() => (isLost ? reject(new Error('no answer')) : resolve()))
      })
    })
  }

  list({ tenantId, after = 0, limit }: LetterQuery): Promise<DeadLetter[]> {
    const isOf = ({ message }: DeadLetter): boolean => tenantId === undefined || message.tenantId === tenantId
    return Promise.resolve(this.letters.filter((letter) => letter.id > after && isOf(letter)).slice(0, limit))
  }

  read(id: number): Promise<DeadLetter | undefined> {
    return Promise.resolve(this.letters.find((letter) => letter.id === id))
  }

  remove(id: number): Promise<boolean> {
    const index = this.letters.findIndex((letter) => letter.id === id)
    if (index >= 0) this.letters.splice(index, 1)
    return Promise.resolve(index >= 0)
  }

  eraseRemoved(): Promise<Erased> {
    return Promise.resolve({ isGone: true })
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
