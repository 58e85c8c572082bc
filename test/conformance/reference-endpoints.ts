/** The endpoints of the reference as facts (`endpoints.json`), and whether an answer has the members that it names. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../support/start-millrace.ts'

export interface Endpoint {
  readonly method: string
  /** `/api/asset/{assetId}`. */
  readonly path: string
  readonly tag: string
  readonly wanted: 'yes' | 'constant' | 'later'
  readonly auth: readonly string[]
  readonly onlyWith?: readonly string[]
  readonly params?: readonly { readonly name: string; readonly in: string; readonly enum?: readonly string[] }[]
  /** The type of the answer; absent: none. */
  readonly res?: string
}

interface Schema {
  readonly fields?: Readonly<Record<string, string>>
  /** Taken and not answered. */
  readonly writeOnly?: readonly string[]
}

const FILE = join(PROJECT_ROOT, '..', 'shared', 'reference', 'endpoints.json')

export const areEndpointsThere = existsSync(FILE)

/** Written with the project's issues: the shape is known. */
function readReference() {
  return JSON.parse(readFileSync(FILE, 'utf8')) as {
    readonly endpoints: readonly Endpoint[]
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/** Members that the recorded answers leave out where there is nothing to say (`rest-api.md` 1.3). */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'JwtPair.scope',
  'RuleChainMetaData.notes',
  'RuleChainImportResult.ruleChainId',
  'RuleChainImportResult.updated',
  'RuleChainImportResult.error',
])

export class Reference {
  readonly endpoints: readonly Endpoint[]
  private readonly schemas: Readonly<Record<string, Schema>>

  constructor() {
    const { endpoints, schemas } = readReference()
    this.endpoints = endpoints
    this.schemas = schemas
  }

  /** Paths of members that the type names and the answer does not have. */
  missing(type: string, answer: unknown, at = ''): readonly string[] {
    if (answer === null) return []
    if (type.endsWith('[]')) {
      if (!Array.isArray(answer)) return [`${at}: a list is expected`]
      const item = type.slice(0, -2)
      return answer.flatMap((element, index) => this.missing(item, element, `${at}[${index}]`))
    }
    const { fields, writeOnly = [] } = this.schemas[type] ?? {}
    if (fields === undefined) return []
    if (typeof answer !== 'object') return [`${at}: an object is expected`]
    const asked = Object.entries(fields).filter(
      ([name]) => name in answer || !(LEFT_OUT.has(`${type}.${name}`) || writeOnly.includes(name)),
    )
    return asked.flatMap(([name, member]) =>
      name in answer ? this.missing(member, Reflect.get(answer, name), `${at}.${name}`) : [`${at}.${name}`],
    )
  }
}

/** One name for paths whose parameters have other names. */
export function placeOf(method: string, path: string): string {
  return `${method} ${path.replace(/\{\w+\}/g, '*').replace(/:\w+/g, '*')}`
}
