/**
 * What is kept of many points to answer COUNT, SUM, AVG, MIN and MAX: of a bucket while it is read, and of a whole chunk so
 * that it need not be read. Source: `rest-api.md` 4.4.
 */
import type { Aggregation } from '../../../model/telemetry-query.ts'
import { fitsLong, longValue, type TypedValue } from '../../../model/value.ts'
import type { ByteReader, ByteWriter } from './bytes.ts'
import { readValue, writeValue, type StoredPoint } from './point.ts'

type Long = number | bigint

/** The values of one type of number. */
export interface FiguresOf<Value> {
  readonly count: number
  readonly sum: Value
  readonly min: Value
  readonly max: Value
}

export class Aggregate {
  count = 0
  longs = 0
  doubles = 0
  texts = 0
  private longSum: Long = 0
  private doubleSum = 0
  private minLong: Long = 0
  private maxLong: Long = 0
  private minDouble = 0
  private maxDouble = 0
  /** Of a summary that was read back these are not known, though `texts` is. */
  private minText: string | undefined
  private maxText: string | undefined

  /** Of figures that a database has computed; `count` is that of all values, of whatever type. */
  static of(figures: {
    readonly count: number
    readonly longs?: FiguresOf<Long>
    readonly doubles?: FiguresOf<number>
  }): Aggregate {
    const made = new Aggregate()
    made.count = figures.count
    if (figures.longs !== undefined) {
      made.longs = figures.longs.count
      made.longSum = figures.longs.sum
      made.minLong = figures.longs.min
      made.maxLong = figures.longs.max
    }
    if (figures.doubles !== undefined) {
      made.doubles = figures.doubles.count
      made.doubleSum = figures.doubles.sum
      made.minDouble = figures.doubles.min
      made.maxDouble = figures.doubles.max
    }
    return made
  }

  add(type: StoredPoint['type'], value: StoredPoint['value']): void {
    switch (type) {
      case 'DOUBLE':
        this.addDouble(Number(value))
        return
      case 'LONG':
        this.addLong(typeof value === 'bigint' ? value : Number(value))
        return
      case 'STRING':
        this.addText(String(value))
        return
      default:
        this.count++
    }
  }

  addDouble(value: number): void {
    this.count++
    if (this.doubles++ === 0) {
      this.minDouble = value
      this.maxDouble = value
    } else if (value < this.minDouble) this.minDouble = value
    else if (value > this.maxDouble) this.maxDouble = value
    this.doubleSum += value
  }

  addLong(value: Long): void {
    this.count++
    if (this.longs++ === 0) {
      this.minLong = value
      this.maxLong = value
    } else if (value < this.minLong) this.minLong = value
    else if (value > this.maxLong) this.maxLong = value
    this.longSum = sumOf(this.longSum, value)
  }

  private addText(value: string): void {
    this.count++
    this.texts++
    if (this.minText === undefined || value < this.minText) this.minText = value
    if (this.maxText === undefined || value > this.maxText) this.maxText = value
  }

  /** Takes in the summary of a chunk. */
  merge(other: Aggregate): void {
    if (other.longs > 0) {
      if (this.longs === 0 || other.minLong < this.minLong) this.minLong = other.minLong
      if (this.longs === 0 || other.maxLong > this.maxLong) this.maxLong = other.maxLong
    }
    if (other.doubles > 0) {
      if (this.doubles === 0 || other.minDouble < this.minDouble) this.minDouble = other.minDouble
      if (this.doubles === 0 || other.maxDouble > this.maxDouble) this.maxDouble = other.maxDouble
    }
    this.count += other.count
    this.longs += other.longs
    this.doubles += other.doubles
    this.texts += other.texts
    this.longSum = sumOf(this.longSum, other.longSum)
    this.doubleSum += other.doubleSum
  }

  /** True where a summary alone can stand for its points: texts are compared only where there are no numbers. */
  answers(aggregation: Aggregation): boolean {
    const extreme = aggregation === 'MIN' || aggregation === 'MAX'
    return !extreme || this.texts === 0 || this.longs + this.doubles > 0
  }

  /** The bucket's value; undefined where nothing of it counts. */
  result(aggregation: Exclude<Aggregation, 'NONE'>): TypedValue | undefined {
    if (this.count === 0) return undefined
    switch (aggregation) {
      case 'COUNT':
        return { type: 'LONG', value: this.count }
      case 'AVG':
        return { type: 'DOUBLE', value: this.average() }
      case 'SUM':
        return this.sum()
      case 'MIN':
        return this.extreme(this.minLong, this.minDouble, this.minText, (a, b) => a < b)
      case 'MAX':
        return this.extreme(this.maxLong, this.maxDouble, this.maxText, (a, b) => a > b)
    }
  }

  private average(): number {
    const numbers = this.longs + this.doubles
    return numbers === 0 ? 0 : (Number(this.longSum) + this.doubleSum) / numbers
  }

  private sum(): TypedValue {
    if (this.doubles > 0) return { type: 'DOUBLE', value: Number(this.longSum) + this.doubleSum }
    const exact = BigInt(this.longSum)
    return fitsLong(exact) ? { type: 'LONG', value: longValue(exact) } : { type: 'DOUBLE', value: Number(exact) }
  }

  private extreme(
    long: Long,
    double: number,
    text: string | undefined,
    before: (a: number, b: number) => boolean,
  ): TypedValue | undefined {
    if (this.longs > 0 && this.doubles > 0) {
      return { type: 'DOUBLE', value: before(Number(long), double) ? Number(long) : double }
    }
    if (this.longs > 0) return { type: 'LONG', value: long }
    if (this.doubles > 0) return { type: 'DOUBLE', value: double }
    return text === undefined ? undefined : { type: 'STRING', value: text }
  }

  encode(writer: ByteWriter): void {
    writer.unsigned(this.count)
    writer.unsigned(this.texts)
    writer.unsigned(this.longs)
    if (this.longs > 0) {
      for (const long of [this.minLong, this.maxLong]) writeValue(writer, 'LONG', long)
      writer.text(this.longSum.toString())
    }
    writer.unsigned(this.doubles)
    if (this.doubles > 0) for (const value of [this.minDouble, this.maxDouble, this.doubleSum]) writer.float(value)
  }

  /** Reads what `encode` wrote. */
  static decode(reader: ByteReader): Aggregate {
    const read = new Aggregate()
    read.count = reader.unsigned()
    read.texts = reader.unsigned()
    read.longs = reader.unsigned()
    if (read.longs > 0) {
      read.minLong = readLong(reader)
      read.maxLong = readLong(reader)
      read.longSum = longSumOf(reader.text())
    }
    read.doubles = reader.unsigned()
    if (read.doubles > 0) {
      read.minDouble = reader.float()
      read.maxDouble = reader.float()
      read.doubleSum = reader.float()
    }
    return read
  }
}

function readLong(reader: ByteReader): Long {
  const read = readValue(reader)
  if (read.type !== 'LONG') throw new RangeError(`${read.type} in place of a LONG`)
  return read.value
}

function longSumOf(text: string): Long {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

/** Exact: a `number` while that is exact. */
function sumOf(a: Long, b: Long): Long {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return BigInt(a) + BigInt(b)
}
