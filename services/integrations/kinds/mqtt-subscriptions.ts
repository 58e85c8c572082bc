/** What a broker that keeps our session still sends though the configuration no longer names it: told apart by what was subscribed before. */
import { z } from 'zod'
import type { Positions } from '../define-integration.ts'
import type { MqttSourceConfiguration } from './mqtt-configuration.ts'

const POSITION = 'subscriptions'
const keptFilters = z.array(z.string())

export class MqttSubscriptions {
  private readonly positions: Positions
  private readonly wanted: readonly string[]
  private kept: readonly string[]

  private constructor(positions: Positions, wanted: readonly string[], kept: readonly string[]) {
    this.positions = positions
    this.wanted = wanted
    this.kept = kept
  }

  static async open(
    positions: Positions,
    { topics, cleanSession }: Pick<MqttSourceConfiguration, 'topics' | 'cleanSession'>,
  ): Promise<MqttSubscriptions> {
    const read = keptFilters.safeParse(await positions.read(POSITION))
    // A broker forgets the subscriptions of a clean session by itself.
    const wanted = cleanSession ? [] : topics.map(({ filter }) => filter)
    return new MqttSubscriptions(positions, wanted, read.success ? read.data : [])
  }

  /** To be left. */
  get stale(): readonly string[] {
    return this.kept.filter((filter) => !this.wanted.includes(filter))
  }

  /** Before anything is subscribed: what may be subscribed from now on is durable when it resolves. */
  async began(): Promise<void> {
    await this.keep([...new Set([...this.kept, ...this.wanted])])
  }

  /** When what is stale is left. */
  async left(): Promise<void> {
    await this.keep(this.wanted)
  }

  private async keep(filters: readonly string[]): Promise<void> {
    if (filters.length === this.kept.length && filters.every((filter) => this.kept.includes(filter))) return
    await this.positions.write(POSITION, [...filters])
    this.kept = filters
  }
}
