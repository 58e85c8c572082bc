/**
 * Answers of reads, kept until something changes on which they depend: its name is told here by whoever hears of changes. Of those who ask for
 * the same at the same time one reads. Bounded in bytes.
 */
import { ByteCache } from '../../model/byte-cache.ts'
import type { Soon } from '../../engine/rulechain/capabilities/soon.ts'

export interface KeptReadsOptions<Value> {
  readonly maxBytes: number
  readonly sizeOf: (value: Value) => number
  /** Names of all that the answer follows from. */
  readonly dependsOn: (value: Value) => readonly string[]
}

/** The part of the bound that one answer may take. */
const MAX_SHARE = 1 / 8
/** What an answer costs in the lists of one name that it depends on. */
const DEPENDENCY_BYTES = 100
/** Changes during one read that are told apart: beyond them its answer is not kept. */
const MAX_CHANGES = 1_000

interface Kept<Value> {
  readonly value: Value
  readonly dependsOn: readonly string[]
}

/** What changed while a read was on its way. */
interface Meanwhile {
  readonly names: Set<string>
  isAnything: boolean
}

/** `Absent` is undefined where there may be no answer: none is never kept. */
export class KeptReads<Value extends object, Absent extends undefined = never> {
  private readonly kept: ByteCache<Kept<Value>>
  private readonly options: KeptReadsOptions<Value>
  private readonly dependents = new Map<string, Set<string>>()
  /** Reads that nothing has changed since they began: others may wait for the same. */
  private readonly shared = new Map<string, Promise<Value | Absent>>()
  private readonly underWay = new Set<Meanwhile>()

  constructor(options: KeptReadsOptions<Value>) {
    this.options = options
    this.kept = new ByteCache<Kept<Value>>({
      maxBytes: options.maxBytes,
      maxShare: MAX_SHARE,
      sizeOf: ({ value, dependsOn }) => options.sizeOf(value) + dependsOn.length * DEPENDENCY_BYTES,
      onDrop: (key, { dependsOn }) => {
        for (const name of dependsOn) this.unlink(name, key)
      },
    })
  }

  get bytes(): number {
    return this.kept.bytes
  }

  /** At once where the answer is kept. */
  read(key: string, load: () => Promise<Value | Absent>): Soon<Value | Absent> {
    return this.kept.get(key)?.value ?? this.shared.get(key) ?? this.begin(key, load)
  }

  /** What depends on it is read anew. */
  changed(name: string): void {
    this.shared.clear()
    for (const meanwhile of this.underWay) {
      if (meanwhile.names.size < MAX_CHANGES) meanwhile.names.add(name)
      else meanwhile.isAnything = true
    }
    for (const key of [...(this.dependents.get(name) ?? [])]) this.kept.delete(key)
  }

  /** Anything may have changed. */
  changedAll(): void {
    this.shared.clear()
    for (const meanwhile of this.underWay) meanwhile.isAnything = true
    this.kept.clear()
    this.dependents.clear()
  }

  private begin(key: string, load: () => Promise<Value | Absent>): Promise<Value | Absent> {
    const meanwhile: Meanwhile = { names: new Set(), isAnything: false }
    this.underWay.add(meanwhile)
    const reading = this.loadAndKeep(key, load, meanwhile).finally(() => {
      this.underWay.delete(meanwhile)
      if (this.shared.get(key) === reading) this.shared.delete(key)
    })
    this.shared.set(key, reading)
    return reading
  }

  private async loadAndKeep(
    key: string,
    load: () => Promise<Value | Absent>,
    meanwhile: Meanwhile,
  ): Promise<Value | Absent> {
    const value = await load()
    if (value === undefined || meanwhile.isAnything) return value
    const dependsOn = this.options.dependsOn(value)
    if (!dependsOn.some((name) => meanwhile.names.has(name))) this.keep(key, { value, dependsOn })
    return value
  }

  private keep(key: string, kept: Kept<Value>): void {
    this.kept.set(key, kept)
    // One that is too large is not held.
    if (this.kept.peek(key) !== kept) return
    for (const name of kept.dependsOn) {
      const keys = this.dependents.get(name)
      if (keys === undefined) this.dependents.set(name, new Set([key]))
      else keys.add(key)
    }
  }

  private unlink(name: string, key: string): void {
    const keys = this.dependents.get(name)
    keys?.delete(key)
    if (keys?.size === 0) this.dependents.delete(name)
  }
}
