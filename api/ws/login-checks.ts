/** Logins of open sessions, checked again when they may have been withdrawn: one after the other, until the store answers. */
import type { Clock, TimerHandle } from '../../model/clock.ts'
import type { Session } from './session.ts'

const RETRY_MS = 1000

export class LoginChecks {
  private readonly clock: Clock
  private readonly sessions: () => Iterable<Session>
  private readonly waiting = new Set<Session>()
  private running = false
  private retry: TimerHandle | undefined

  constructor(clock: Clock, sessions: () => Iterable<Session>) {
    this.clock = clock
    this.sessions = sessions
  }

  ask(concerns: (session: Session) => boolean): void {
    for (const session of this.sessions()) if (concerns(session)) this.waiting.add(session)
    this.begin()
  }

  close(): void {
    this.retry?.cancel()
    this.waiting.clear()
  }

  private begin(): void {
    if (this.running || this.waiting.size === 0) return
    this.running = true
    this.run().then(
      () => (this.running = false),
      () => {
        this.running = false
        this.retry?.cancel()
        this.retry = this.clock.after(RETRY_MS, () => this.begin())
      },
    )
  }

  private async run(): Promise<void> {
    for (const session of this.waiting) {
      this.waiting.delete(session)
      try {
        await session.checkLogin()
      } catch (error) {
        this.waiting.add(session)
        throw error
      }
    }
  }
}
