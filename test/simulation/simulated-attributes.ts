/** Attributes that all processes share: slow by seed, and a save that fails may have been done all the same. */
import type { Clock } from '../../model/clock.ts'
import type { Attribute } from '../../model/value.ts'
import type { SeededRandom } from '../../engine/actor/testkit.ts'
import type { DeviceAttributes } from '../../engine/device/owner/device-owner.ts'
import type { RunClock } from './run-clock.ts'

export type SaveRequest = Parameters<DeviceAttributes['save']>[0]

export class SimulatedAttributes {
  failing = 0
  maxLatencyMs = 5
  /** Told at the moment in which a save is durable. */
  onSaved: (request: SaveRequest, process: string) => void = () => undefined
  private readonly stored = new Map<string, Map<string, Attribute>>()
  private readonly clock: Clock
  private readonly random: SeededRandom

  constructor(clock: Clock, random: SeededRandom) {
    this.clock = clock
    this.random = random
  }

  /** As a process with this clock sees them. */
  of(process: string, clock: RunClock): DeviceAttributes & { activeDevices(): Promise<readonly string[]> } {
    return {
      find: (...asked) => this.ask(clock, () => this.read(...asked)),
      save: (request) => this.ask(clock, () => this.write(request, process), true),
      activeDevices: () => this.ask(clock, () => this.activeDevices()),
    }
  }

  value(deviceId: string, key: string): unknown {
    return this.stored.get(deviceId)?.get(key)?.value
  }

  private read(...[entity, , keys = []]: Parameters<DeviceAttributes['find']>): {
    readonly value: readonly Attribute[]
  } {
    const stored = this.stored.get(entity.id)
    return { value: [...(stored?.values() ?? [])].filter(({ key }) => keys.includes(key)) }
  }

  private activeDevices(): readonly string[] {
    return [...this.stored.keys()].filter((deviceId) => this.value(deviceId, 'active') === true).sort()
  }

  private write(request: SaveRequest, process: string): void {
    const { entity, entries } = request
    const stored = this.stored.get(entity.id) ?? new Map<string, Attribute>()
    this.stored.set(entity.id, stored)
    for (const entry of entries) stored.set(entry.key, { ...entry, lastUpdateTs: this.clock.now() })
    this.onSaved(request, process)
  }

  private ask<Answer>(clock: RunClock, apply: () => Answer, isWrite = false): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.clock.after(this.random.next() * this.maxLatencyMs, () => {
        const fails = this.random.chance(this.failing)
        if (fails && !(isWrite && this.random.chance(0.5)))
          return clock.arrive(() => reject(new Error('the store does not answer')))
        const answer = apply()
        this.clock.after(this.random.next() * this.maxLatencyMs, () =>
          clock.arrive(() => (fails ? reject(new Error('the answer was lost')) : resolve(answer))),
        )
      })
    })
  }
}
