/** The columns of one aggregation: each key is read once, whoever needs it. */
import type { LatestColumn } from '../../model/latest-column.ts'
import type { AggregationTurn, MemberKey } from '../../engine/rulechain/capabilities/aggregation.ts'

export class MemberColumns {
  readonly columns: LatestColumn[] = []
  private readonly turn: AggregationTurn
  private readonly ids: readonly string[]
  private readonly places = new Map<string, number>()

  constructor(turn: AggregationTurn, ids: readonly string[]) {
    this.turn = turn
    this.ids = ids
  }

  /** Its place among the columns. */
  async placeOf({ source, key }: MemberKey): Promise<number> {
    const name = `${source} ${key}`
    const known = this.places.get(name)
    if (known !== undefined) return known
    const place = this.columns.push(await this.turn.column(this.ids, { source, key })) - 1
    this.places.set(name, place)
    return place
  }

  async of(key: MemberKey): Promise<LatestColumn> {
    const column = this.columns[await this.placeOf(key)]
    if (column === undefined) throw new RangeError(`there is no column ${key.key}`)
    return column
  }
}
