/** A step of the recorded API scenarios: what of its answer counts, and where an answer of this server differs, by exact path. */
import { differencesOf, type Difference } from './golden-answers.ts'

/** As the recordings have it. Written by their runner: the shape is known. */
export interface GoldenStep {
  readonly name: string
  readonly quiet?: boolean
  readonly expect?: object
  readonly unordered?: boolean
  readonly only?: readonly string[]
  readonly compare?: 'status'
  readonly rows?: { readonly at: string; readonly with: string }
  readonly drop?: readonly string[]
  readonly mask?: readonly string[]
  readonly orStatus?: readonly number[]
}

/** As the runner wrote it: ids, times and tokens are placeholders. */
export interface StepAnswer {
  readonly name: string
  readonly status?: number
  readonly body?: unknown
  readonly headers?: object
}

const ANY = '<any>'

/** Empty: the answer is as recorded. */
export function stepDifferences(step: GoldenStep, answer: StepAnswer): readonly Difference[] {
  const { expect = {}, orStatus = [], unordered = false } = step
  const status = answer.status ?? 0
  if (orStatus.includes(status) && status !== (expect as { readonly status?: number }).status) return []
  const wanted = masked(structuredClone(expect), step.mask)
  const seen = viewOf(step, answer)
  return differencesOf({ ...wanted, unordered }, { ...seen, unordered }).filter(
    ({ recorded, answered }) => !(recorded === ANY && answered !== undefined),
  )
}

/** As much of an answer as the step compares. */
export function viewOf(step: GoldenStep, answer: StepAnswer): object {
  const view: { status: number | undefined; headers?: object; body?: unknown } = { status: answer.status }
  if (answer.headers !== undefined) view.headers = answer.headers
  if (step.only !== undefined) {
    view.body = Object.fromEntries(step.only.map((path) => [path, placeOf(answer.body, path)]))
  } else if (step.compare !== 'status') view.body = structuredClone(answer.body)
  if (step.rows !== undefined) view.body = markedRows(view.body, step.rows)
  for (const path of step.drop ?? []) drop(view, path)
  return view
}

function placeOf(body: unknown, path: string): unknown {
  const parts = path.split('.')
  if (path.includes('*')) return [...places(body, parts)].map((place) => valueAt(body, place))
  const value = path === '$' ? body : valueAt(body, parts)
  return value === undefined ? '<absent>' : value
}

function markedRows(body: unknown, { at, with: mark }: NonNullable<GoldenStep['rows']>): unknown {
  const list = at === '$' ? body : valueAt(body, at.split('.'))
  if (!Array.isArray(list)) return body
  const marked = list.filter((row) => JSON.stringify(row).includes(mark))
  return at === '$' ? marked : { [at]: marked }
}

function masked(value: object, paths: readonly string[] = []): object {
  for (const path of paths) {
    for (const place of [...places(value, path.split('.'))]) set(value, place, ANY)
  }
  return value
}

function drop(value: object, path: string): void {
  for (const place of [...places(value, path.split('.'))]) {
    const holder = valueAt(value, place.slice(0, -1))
    if (Array.isArray(holder)) set(value, place, '<dropped>')
    else if (typeof holder === 'object' && holder !== null) Reflect.deleteProperty(holder, place.at(-1) ?? '')
  }
}

function set(value: object, place: readonly string[], to: unknown): void {
  const holder = valueAt(value, place.slice(0, -1))
  if (typeof holder === 'object' && holder !== null) Reflect.set(holder, place.at(-1) ?? '', to)
}

function valueAt(value: unknown, place: readonly string[]): unknown {
  return place.reduce<unknown>(
    (held, key) => (typeof held === 'object' && held !== null ? Reflect.get(held, key) : undefined),
    value,
  )
}

/** `a.*.c`: every member of `a` that has a `c`. */
function* places(value: unknown, parts: readonly string[], at: readonly string[] = []): Generator<readonly string[]> {
  const [part, ...rest] = parts
  if (part === undefined) {
    yield at
    return
  }
  if (typeof value !== 'object' || value === null) return
  const keys = part === '*' ? Object.keys(value) : part in value ? [part] : []
  for (const key of keys) yield* places(Reflect.get(value, key), rest, [...at, key])
}
