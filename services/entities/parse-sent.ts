/** Values of clients that write numbers and flags as text, or texts as numbers and flags, as the reference's JSON reader takes them. */
import type { z } from 'zod'
import { WholeDouble, stringifyJson } from '../../model/json.ts'
import { FLAG_TEXTS } from './lenient-input.ts'

/** What a form refuses may hide what it would refuse next: the head of a list of forms, what a value is made into. */
const MAX_ROUNDS = 3
/** More of them in one body are no client's habit, and each costs: it is refused after one reading. */
const MAX_ISSUES = 5_000
const NUMBER = /^-?(?:\d{1,15}|\d{1,15}\.\d{1,15})$/

type Issue = z.core.$ZodIssue
type Holder = Record<PropertyKey, unknown>

/**
 * What a client sent, read by a schema. Where the schema refuses a text for a number or a flag, or one of these for a text, the value is read
 * as what it stands for; an empty text stands for none. What the schema takes as it came is never touched. The issues are those of the last
 * reading.
 */
export function parseSent<Body>(schema: z.ZodType<Body>, sent: unknown): z.ZodSafeParseResult<Body> {
  let read = schema.safeParse(sent)
  if (read.success) return read
  const copied = new Set<unknown>()
  const root: Holder = { sent }
  for (let round = 0; round < MAX_ROUNDS && !read.success; round += 1) {
    const { issues } = read.error
    if (issues.length > MAX_ISSUES || !mend(root, issues, copied)) break
    read = schema.safeParse(root['sent'])
  }
  return read
}

/** Whether a value was put in another's place. */
function mend(root: Holder, issues: readonly Issue[], copied: Set<unknown>): boolean {
  let isMended = false
  for (const issue of issues) {
    const kinds = kindsWanted(issue)
    if (kinds.size === 0) continue
    const path = ['sent', ...issue.path]
    const meant = meantBy(valueAt(root, path), kinds)
    if (meant === undefined) continue
    put(root, path, meant, copied)
    isMended = true
  }
  return isMended
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
  if (typeof value !== 'string') return undefined
  const isNumber = kinds.has('number') || kinds.has('int')
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
