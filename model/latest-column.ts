/** The latest values of one key of many entities side by side: what searches and sorts look at, without an object for each. */
import type { TypedValue, ValueType } from './value.ts'

export interface LatestColumn {
  /** In the order of the entities: 0 where there is no value, else {@link COLUMN_KINDS}. Shorter than the entities where these are the first alone. */
  readonly kinds: Uint8Array
  /** A number, a flag as 0 or 1, or the place in `texts`. Long integers are rounded, as comparisons do. */
  readonly numbers: Float64Array
  /** Each once, as far as they were put or joined together. */
  readonly texts: readonly string[]
}

export const COLUMN_KINDS: Readonly<Record<ValueType, number>> = { BOOLEAN: 1, LONG: 2, DOUBLE: 3, STRING: 4, JSON: 5 }

export class LatestColumnBuilder {
  private readonly kinds: Uint8Array
  private readonly numbers: Float64Array
  private readonly texts = new DistinctTexts()

  constructor(size: number) {
    this.kinds = new Uint8Array(size)
    this.numbers = new Float64Array(size)
  }

  put(place: number, { type, value }: Pick<TypedValue, 'type' | 'value'>): void {
    this.kinds[place] = COLUMN_KINDS[type]
    this.numbers[place] = typeof value === 'string' ? this.texts.placeOf(value) : Number(value)
  }

  /** Of the first entities. */
  build(size = this.kinds.length): LatestColumn {
    const { texts } = this.texts
    if (size === this.kinds.length) return { kinds: this.kinds, numbers: this.numbers, texts }
    // Copies: of a part of it a thread would be sent the whole.
    return { kinds: this.kinds.slice(0, size), numbers: this.numbers.slice(0, size), texts }
  }
}

/** Pieces of one column, one after the other. */
export function joinedColumn(pieces: readonly LatestColumn[]): LatestColumn {
  const [first] = pieces
  if (pieces.length === 1 && first !== undefined) return first
  const size = pieces.reduce((sum, { kinds }) => sum + kinds.length, 0)
  const kinds = new Uint8Array(size)
  const numbers = new Float64Array(size)
  const texts = new DistinctTexts()
  let start = 0
  for (const piece of pieces) {
    kinds.set(piece.kinds, start)
    numbers.set(piece.numbers, start)
    if (piece.texts.length > 0) {
      const places = piece.texts.map((text) => texts.placeOf(text))
      for (let place = 0; place < piece.kinds.length; place++) {
        if ((piece.kinds[place] ?? 0) >= COLUMN_KINDS.STRING)
          numbers[start + place] = places[piece.numbers[place] ?? 0] ?? 0
      }
    }
    start += piece.kinds.length
  }
  return { kinds, numbers, texts: texts.texts }
}

/** Series of texts have few different ones as a rule: a thread is sent each once. */
class DistinctTexts {
  readonly texts: string[] = []
  private readonly places = new Map<string, number>()

  placeOf(text: string): number {
    const known = this.places.get(text)
    if (known !== undefined) return known
    const place = this.texts.push(text) - 1
    this.places.set(text, place)
    return place
  }
}
