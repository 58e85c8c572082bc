/** Values of clients that write numbers and flags as text, whole numbers with a dot, or texts as numbers and flags, as the reference's JSON reader takes them. */
import type { z } from 'zod'
import { WholeDouble, stringifyJson } from '../../model/json.ts'
import { FLAG_TEXTS } from './lenient-input.ts'

/** What a form refuses may hide what it would refuse next: the head of a list of forms, what a value is made into. */
const MAX_ROUNDS = 3
/** More of them in one body are no client's habit, and each costs: it is refused after one reading. */
const MAX_ISSUES = 5_000
/** A body of more values is read up to what the schema refuses first: all that could be wrong of it would take seconds. */
const MAX_READ_WHOLE = 6_000
/** What the readings of such a body may come to, one for each value that is put in another's place. */
const MAX_REREAD_VALUES = 300_000
/** The library goes on to the end of maps: of larger ones, so many members are tried before the rest is read. */
const MAX_TRIED_MEMBERS = 1_000
const NUMBER = /^-?(?:\d{1,15}|\d{1,15}\.\d{1,15})$/
type Issue = z.core.$ZodIssue
type Holder = Record<PropertyKey, unknown>

const TO_THE_END: z.core.ParseContext<Issue> = {}
/** The library reads lists and objects no further than their first refused part; so does its own `validate`. */
const UNTIL_REFUSED: z.core.ParseContextInternal<Issue> = { abortEarly: true }

/**
 * What a client sent, read by a schema. Where the schema refuses a text for a number or a flag, or one of these for a text, the value is read
 * as what it stands for; an empty text stands for none. What the schema takes as it came is never touched. The issues are those of the last
 * reading: all of a small body, the first ones of a large one.
 */
export function parseSent<Body>(schema: z.ZodType<Body>, sent: unknown): z.ZodSafeParseResult<Body> {
  const { values, mostMembers } = sizeOf(sent)
  const isSmall = values <= MAX_READ_WHOLE
  if (mostMembers > MAX_TRIED_MEMBERS && !isSmall) {
    const refused = refusedOfHeads(schema, sent)
    if (refused !== undefined) return refused
  }
  const context = isSmall ? TO_THE_END : UNTIL_REFUSED
  const rounds = isSmall ? MAX_ROUNDS : Math.ceil(MAX_REREAD_VALUES / values)
  let read = schema.safeParse(sent, context)
  if (read.success) return read
  const copied = new Set<unknown>()
  const root: Holder = { sent }
  for (let round = 0; round < rounds && !read.success; round += 1) {
    const { issues } = read.error
    if (issues.length > MAX_ISSUES || !mend(root, issues, copied)) break
    read = schema.safeParse(root['sent'], context)
  }
  return read
}

/** Of all that a body holds, each member, element and object counted once. */
function sizeOf(sent: unknown): { values: number; mostMembers: number } {
  let values = 0
  let mostMembers = 0
  const left: unknown[] = [sent]
  while (left.length > 0) {
    const value = left.pop()
    values += 1
    if (!isHolder(value)) continue
    if (Array.isArray(value)) for (const element of value) left.push(element)
    else {
      let members = 0
      for (const name in value) {
        members += 1
        left.push(value[name])
      }
      mostMembers = Math.max(mostMembers, members)
    }
  }
  return { values, mostMembers }
}

/** What a schema refuses of the body with the first members of its large objects alone, if it would refuse the same of the whole. */
function refusedOfHeads<Body>(schema: z.ZodType<Body>, sent: unknown): z.ZodSafeParseError<Body> | undefined {
  const tried: Holder = { sent: headsOf(sent) }
  const read = schema.safeParse(tried['sent'], UNTIL_REFUSED)
  if (read.success) return undefined
  const whole: Holder = { sent }
  const isOfWhole = ({ path }: Issue): boolean => {
    const [holder, value] = [
      ['sent', ...path.slice(0, -1)],
      ['sent', ...path],
    ].map((at) => valueAt(tried, at))
    const isKept = value !== undefined && value === valueAt(whole, ['sent', ...path])
    return isKept || (path.length > 0 && holder === valueAt(whole, ['sent', ...path.slice(0, -1)]))
  }
  const isLasting = read.error.issues.some((issue) => isOfWhole(issue) && meantInstead(tried, issue) === undefined)
  return isLasting ? read : undefined
}

/** What holds no large object stays the same object. */
function headsOf(value: unknown): unknown {
  if (!isHolder(value)) return value
  if (Array.isArray(value)) {
    const heads = value.map(headsOf)
    return heads.every((head, index) => head === value[index]) ? value : heads
  }
  const members = Object.entries(value)
  const heads = members.slice(0, MAX_TRIED_MEMBERS).map(([name, member]) => [name, headsOf(member)] as const)
  const isWhole = heads.length === members.length && heads.every(([, head], index) => head === members[index]?.[1])
  return isWhole ? value : Object.fromEntries(heads)
}

/** Whether a value was put in another's place. */
function mend(root: Holder, issues: readonly Issue[], copied: Set<unknown>): boolean {
  let isMended = false
  for (const issue of issues) {
    const meant = meantInstead(root, issue)
    if (meant === undefined) continue
    put(root, ['sent', ...issue.path], meant, copied)
    isMended = true
  }
  return isMended
}

function meantInstead(root: Holder, issue: Issue): unknown {
  const kinds = kindsWanted(issue)
  return kinds.size === 0 ? undefined : meantBy(valueAt(root, ['sent', ...issue.path]), kinds)
}

function kindsWanted(issue: Issue): ReadonlySet<string> {
  if (issue.code === 'invalid_type') return new Set([issue.expected])
  if (issue.code !== 'invalid_union') return new Set()
  const ofChoices = issue.errors.flatMap((choice) => choice.filter(({ path }) => path.length === 0))
  return new Set(ofChoices.flatMap((own) => (own.code === 'invalid_type' ? [own.expected] : [])))
}

function meantBy(value: unknown, kinds: ReadonlySet<string>): unknown {
  if (kinds.has('string')) {
    const isScalar = ['number', 'bigint', 'boolean'].includes(typeof value) || value instanceof WholeDouble
    return isScalar ? stringifyJson(value as number) : undefined
  }
  const isNumber = kinds.has('number') || kinds.has('int')
  if (value instanceof WholeDouble) return isNumber ? Number(value) : undefined
  if (typeof value !== 'string') return undefined
  if (value === '') return isNumber || kinds.has('boolean') ? null : undefined
  if (isNumber && NUMBER.test(value)) return Number(value)
  return kinds.has('boolean') ? FLAG_TEXTS.get(value) : undefined
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null
}

function valueAt(root: Holder, path: readonly PropertyKey[]): unknown {
  let value: unknown = root
  for (const key of path) {
    if (!isHolder(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

/** What lies on the way is copied once, whatever the number of values that are put: what was sent stays as it came. */
function put(root: Holder, path: readonly PropertyKey[], value: unknown, copied: Set<unknown>): void {
  let holder = root
  for (const key of path.slice(0, -1)) {
    let inner = holder[key]
    if (!copied.has(inner)) {
      inner = Array.isArray(inner) ? inner.slice() : { ...(inner as Holder) }
      copied.add(inner)
      own(holder, key, inner)
    }
    holder = inner as Holder
  }
  const last = path.at(-1)
  if (last !== undefined) own(holder, last, value)
}

/** A member may be called `__proto__`. */
function own(holder: Holder, key: PropertyKey, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
}
