/** The TypeScript client of an API description: the types of its schemas and bodies, and one method for each operation. */
import type { JsonObject } from '../../model/json.ts'
import { namedSchemasOf, operationsOf, type Case, type Operation } from './description.ts'
import { orUndefined, propertyName, typeOf, type Place } from './schema-types.ts'

export interface GeneratedClient {
  readonly types: string
  readonly operations: string
}

const HEAD = '/* Generated from the API description by `npm run docs`: change the declarations, not this file. */\n'

export function generateClient(description: JsonObject): GeneratedClient {
  const operations = operationsOf(description)
  const named = new NamedTypes()
  const methods = operations.map((operation) => methodOf(operation, named))
  const schemas = namedSchemasOf(description).map(({ name, schema, isSent }) =>
    declaration(name, typeOf(schema, { place: isSent ? 'body' : 'answer', prefix: '' })),
  )
  return {
    types: HEAD + [...schemas, ...named.declarations].join('\n'),
    operations: `${HEAD}import { Caller, type CallOptions, type Given } from './caller.ts'
import type * as Api from './types.ts'

export abstract class Operations extends Caller {
${methods.join('\n')}}
`,
  }
}

/** Types of bodies and answers that have no name yet: what is an object gets one, once for all that are the same. */
class NamedTypes {
  readonly declarations: string[] = []
  private readonly names = new Map<string, string>()

  /** As the file of operations says it. */
  of(name: string, schema: JsonObject, place: Place): string {
    const type = typeOf(schema, { place, prefix: '' })
    if (!type.startsWith('{')) return typeOf(schema, { place, prefix: 'Api.' })
    const known = this.names.get(type)
    if (known !== undefined) return `Api.${known}`
    // Each case of an operation may answer something else.
    const free = [...this.names.values()].includes(name) ? `Other${name}` : name
    this.names.set(type, free)
    this.declarations.push(declaration(free, type))
    return `Api.${free}`
  }
}

function declaration(name: string, type: string): string {
  return `export type ${name} = ${type}\n`
}

function methodOf(operation: Operation, named: NamedTypes): string {
  const { operationId, cases } = operation
  const [only, ...others] = cases.map((one) => signatureOf(operation, one, named))
  const call = (given: string) => `{ return this.call(${shapeOf(operation)}, ${given}, options) }`
  if (only === undefined) throw new Error(`${operationId} has no case`)
  if (others.length === 0) return `${only.head}${call(only.takesNothing ? '{}' : 'given')}\n`
  const signatures = [only, ...others].map(({ head }) => head)
  return `${signatures.join('\n')}\n${operationId}(given: Given = {}, options?: CallOptions): Promise<unknown> ${call('given')}\n`
}

interface Signature {
  readonly head: string
  readonly takesNothing: boolean
}

function signatureOf(operation: Operation, one: Case, named: NamedTypes): Signature {
  const { operationId, description, cases } = operation
  const taken = parametersOf(operation, one, named)
  const isOptional = taken.every(({ isRequired }) => !isRequired)
  const given = `given${isOptional && cases.length > 1 ? '?' : ''}: { ${taken.map(({ text }) => text).join('; ')} }`
  const first = isOptional && cases.length === 1 ? `${given} = {}` : given
  const parameters = [...(taken.length === 0 ? [] : [first]), 'options?: CallOptions']
  return {
    head: `
/** ${one.summary.replaceAll('*/', '* /')} ${description} */
${operationId}(${parameters.join(', ')}): Promise<${answerOf(operation, one, named)}>`,
    takesNothing: taken.length === 0,
  }
}

interface Taken {
  readonly text: string
  readonly isRequired: boolean
}

/** Parameters of path, query and header beside each other, and the body. Throws where two have one name. */
function parametersOf({ operationId, body }: Operation, { parameters }: Case, named: NamedTypes): readonly Taken[] {
  const names = [...parameters.map(({ name }) => name), ...(body === undefined ? [] : ['body'])]
  if (new Set(names).size < names.length) throw new Error(`two parameters of ${operationId} have one name`)
  const taken = parameters.map(({ name, isRequired, schema }) => ({
    text: memberOf(propertyName(name), isRequired, typeOf(schema, { place: 'body', prefix: 'Api.' })),
    isRequired,
  }))
  if (body === undefined) return taken
  const { isRequired, kind, schema } = body
  const type = named.of(`${capital(operationId)}Body`, schema, kind === 'form' ? 'form' : 'body')
  return [...taken, { text: memberOf('body', isRequired, type), isRequired }]
}

function memberOf(name: string, isRequired: boolean, type: string): string {
  return isRequired ? `readonly ${name}: ${type}` : `readonly ${name}?: ${orUndefined(type)}`
}

function answerOf({ operationId }: Operation, { answer, mayBeEmpty }: Case, named: NamedTypes): string {
  if (answer === undefined) return 'void'
  const type = named.of(`${capital(operationId)}Answer`, answer, 'answer')
  return mayBeEmpty ? orUndefined(type) : type
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** What the caller needs to send it. */
function shapeOf({ method, path, parameters, body, cases }: Operation): string {
  const namesIn = (place: string) => parameters.filter((parameter) => parameter.in === place).map(({ name }) => name)
  const parts = [`method: '${method}'`, `path: '${path}'`]
  if (namesIn('query').length > 0) parts.push(`query: ${JSON.stringify(namesIn('query'))}`)
  if (namesIn('header').length > 0) parts.push(`headers: ${JSON.stringify(namesIn('header'))}`)
  if (body !== undefined) parts.push(`body: '${body.kind}'`)
  if (cases.some(({ answer }) => answer?.['format'] === 'binary')) parts.push('isFile: true')
  return `{ ${parts.join(', ')} }`
}
