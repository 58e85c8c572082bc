/**
 * `install-chain FILE`: puts a rule chain of an export file on a running server, over its REST API. A chain of the same
 * name is replaced, else one is created; what the server refuses leaves nothing half done.
 */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { defineErrors, errorText } from '../model/errors.ts'
import { parseJson, stringifyJson, type JsonObject, type JsonValue } from '../model/json.ts'
import { runRestCommand, type CommandOutput, type RestCall } from './rest-command.ts'
import { DEFAULT_SERVER, type RestSession } from './rest-session.ts'

export const INSTALL_CHAIN_USAGE = `install-chain FILE [options]
  FILE                 an exported chain: {"ruleChain": {...}, "metadata": {...}}
  --url URL            the server (default ${DEFAULT_SERVER.url})
  --user EMAIL         a tenant administrator (default ${DEFAULT_SERVER.user})
  --password TEXT      default: the environment's MILLRACE_PASSWORD, else the demo login's
  --root               make it the root chain, which every message enters
  --disable-unknown    keep nodes of unknown types, disabled and marked, instead of refusing the chain
`

const InstallErrors = defineErrors('install-chain', {
  FILE_UNREADABLE: { kind: 'invalid', status: 400, text: 'cannot read {file}: {reason}' },
  FILE_NOT_A_CHAIN: {
    kind: 'invalid',
    status: 400,
    text: '{file} is no exported rule chain: {reason}; expected {"ruleChain": {...}, "metadata": {...}}',
  },
  AMBIGUOUS: {
    kind: 'invalid',
    status: 409,
    text: 'there are {count} rule chains named {name}: rename or delete all but one',
  },
  TYPE_UNKNOWN: {
    kind: 'invalid',
    status: 400,
    text: "node '{name}' has a type that this server does not know: {type}",
  },
})

const flagsSchema = z.object({
  root: z.boolean().default(false),
  'disable-unknown': z.boolean().default(false),
})
type Flags = z.infer<typeof flagsSchema>

const anyObject = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
const fileSchema = z.object({
  ruleChain: z.looseObject({ name: z.string().min(1), additionalInfo: z.custom<JsonValue>().optional() }),
  metadata: z.looseObject({ nodes: z.array(anyObject).min(1) }),
})
const chainSchema = z.object({
  id: z.object({ id: z.string() }),
  name: z.string(),
  root: z.boolean(),
  version: z.number(),
})
const pageSchema = z.object({ data: z.array(chainSchema) })
const graphSchema = z.object({
  nodes: z.array(z.object({ name: z.string(), disabledReason: z.string().nullish() })),
})
type Chain = z.infer<typeof chainSchema>
type ChainFile = z.infer<typeof fileSchema>

/** Resolves with the exit code: 0 when installed. */
export function installChain(argv: readonly string[], output?: CommandOutput): Promise<number> {
  const run = async ({ argument, flags, open, output: to }: RestCall<Flags>): Promise<void> => {
    const chain = await readChain(argument)
    await install(await open(), flags, chain, to)
  }
  const argument = 'exactly one FILE'
  return runRestCommand({ usage: INSTALL_CHAIN_USAGE, flags: flagsSchema, argument, run }, argv, output)
}

async function readChain(file: string): Promise<ChainFile> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw InstallErrors.FILE_UNREADABLE({ file, reason: errorText(error) }, error)
  })
  try {
    return fileSchema.parse(parseJson(text))
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)
    throw InstallErrors.FILE_NOT_A_CHAIN({ file, reason }, error)
  }
}

async function install(
  api: RestSession,
  flags: Flags,
  { ruleChain, metadata }: ChainFile,
  output: CommandOutput,
): Promise<void> {
  const unknown = await unknownNodes(api, metadata)
  const [first] = unknown
  if (first !== undefined && !flags['disable-unknown']) throw InstallErrors.TYPE_UNKNOWN({ ...first })
  const present = await chainNamed(api, ruleChain.name)
  const chain = present ?? (await createChain(api, ruleChain))
  try {
    const disabled = await saveGraph(api, chain, metadata, flags['disable-unknown'])
    for (const { name, type } of unknown) output.out(`node '${name}' is disabled: its type is not known here: ${type}`)
    for (const line of disabled) output.out(line)
  } catch (error) {
    if (present === undefined) await api.request('DELETE', `/api/ruleChain/${chain.id.id}`)
    throw error
  }
  output.out(`${present === undefined ? 'created' : 'replaced'} rule chain '${chain.name}' (${chain.id.id})`)
  if (chain.root) output.out('it is the root chain')
  else if (flags.root) {
    await api.request('POST', `/api/ruleChain/${chain.id.id}/root`)
    output.out('it is the root chain now')
  } else output.out('it is not the root chain: add --root to send every message through it')
}

const namesSchema = z.object({ name: z.string().default(''), type: z.string().default('') })
type NodeNames = z.infer<typeof namesSchema>

const CATEGORIES = 'FILTER,ENRICHMENT,TRANSFORMATION,ACTION,EXTERNAL,FLOW,ANALYTICS'
const componentsSchema = z.array(z.object({ clazz: z.string() }))

/** The server saves them; that they would not start is better said before. */
async function unknownNodes(api: RestSession, { nodes }: ChainFile['metadata']): Promise<readonly NodeNames[]> {
  const path = `/api/components?componentTypes=${CATEGORIES}&ruleChainType=CORE`
  const known = new Set(componentsSchema.parse(await api.request('GET', path)).map(({ clazz }) => clazz))
  return nodes.map((node) => namesSchema.parse(node)).filter(({ type }) => !known.has(type))
}

async function chainNamed(api: RestSession, name: string): Promise<Chain | undefined> {
  const query = new URLSearchParams({ pageSize: '1000', page: '0', type: 'CORE', textSearch: name })
  const page = pageSchema.parse(await api.request('GET', `/api/ruleChains?${query.toString()}`))
  const same = page.data.filter((chain) => chain.name === name)
  if (same.length > 1) throw InstallErrors.AMBIGUOUS({ count: same.length, name })
  return same[0]
}

async function createChain(api: RestSession, { name, additionalInfo }: ChainFile['ruleChain']): Promise<Chain> {
  const body = stringifyJson({ name, type: 'CORE', additionalInfo: additionalInfo ?? null })
  return chainSchema.parse(await api.request('POST', '/api/ruleChain', body))
}

/** One line for each node that the server keeps disabled. */
async function saveGraph(
  api: RestSession,
  chain: Chain,
  metadata: ChainFile['metadata'],
  disableUnknown: boolean,
): Promise<string[]> {
  // Ids of the exporting server mean nothing here: each node gets one of its own.
  const nodes = metadata.nodes.map((node) => ({ ...node, id: null, ruleChainId: null }))
  const body = {
    ...(metadata as JsonObject),
    nodes,
    ruleChainId: { entityType: 'RULE_CHAIN', id: chain.id.id },
    version: chain.version,
  }
  const path = `/api/ruleChain/metadata?disableUnknown=${disableUnknown}`
  const saved = graphSchema.parse(await api.request('POST', path, stringifyJson(body)))
  return saved.nodes
    .filter(({ disabledReason }) => disabledReason !== null && disabledReason !== undefined)
    .map(({ name, disabledReason }) => `node '${name}' is disabled: ${disabledReason ?? ''}`)
}
