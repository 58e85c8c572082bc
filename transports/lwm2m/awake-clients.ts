/** Clients that sleep, while they listen: each as long as its profile or the standard says after it was heard. */
import type { Clock } from '../../model/clock.ts'
import { Expiring } from '../coap-messages/expiring.ts'
import type { Lwm2mClient } from './client.ts'

export class AwakeClients {
  private readonly clock: Clock
  /** By how long they listen, ms: one timer each, whose clients were heard in the order in which they fall asleep. */
  private readonly byWindow = new Map<number, Expiring<Lwm2mClient>>()
  /** By the id of the registration. */
  private readonly windows = new Map<string, number>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  heard(client: Lwm2mClient): void {
    const { id } = client.registration
    const { listensMs } = client
    const before = this.windows.get(id)
    if (before !== undefined && before !== listensMs) this.end(id)
    if (listensMs === undefined) return
    const window = this.byWindow.get(listensMs) ?? this.open(listensMs)
    if (window.touch(id) !== undefined) return
    this.windows.set(id, listensMs)
    window.add(id, client)
  }

  /** It listens no more. */
  end(id: string): void {
    this.byWindow.get(this.windows.get(id) ?? -1)?.end(id)
  }

  close(): void {
    for (const window of [...this.byWindow.values()]) window.close()
  }

  private open(listensMs: number): Expiring<Lwm2mClient> {
    const window = new Expiring<Lwm2mClient>(this.clock, listensMs, (client) => {
      this.windows.delete(client.registration.id)
      if (window.size === 0) this.byWindow.delete(listensMs)
      client.fellAsleep()
    })
    this.byWindow.set(listensMs, window)
    return window
  }
}
