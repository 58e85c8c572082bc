/** `chain versions NAME`: what a rule chain of a running Millrace was, and back to it. */
import { z } from 'zod'
import { defineErrors } from '../model/errors.ts'
import { stringifyJson, type JsonObject } from '../model/json.ts'
import { chainIdByName } from './chain-by-name.ts'
import { runRestCommand, wholeNumber, type CommandOutput, type RestCall } from './rest-command.ts'
import { DEFAULT_SERVER } from './rest-session.ts'

export const CHAIN_VERSIONS_USAGE = `chain versions NAME      who saved the rule chain when
  --show N             version N as a file, secrets masked
  --diff N             what changed from version N to the present one
  --to M               with --diff: to version M
  --restore N          save version N again; the present one stays a version
  --url URL            the server (default ${DEFAULT_SERVER.url})
  --user EMAIL         a tenant administrator (default ${DEFAULT_SERVER.user})
  --password TEXT      default: the environment's MILLRACE_PASSWORD, else the demo login's
`

const VersionErrors = defineErrors('chain-versions', {
  UNKNOWN: {
    kind: 'invalid',
    status: 404,
    text: 'version {version} is not kept: chain versions {name} lists those that are',
  },
})

const flagsSchema = z.object({
  show: wholeNumber(1).optional(),
  diff: wholeNumber(1).optional(),
  to: wholeNumber(1).optional(),
  restore: wholeNumber(1).optional(),
})
const versionsSchema = z.array(
  z.object({
    ...{ id: z.string(), version: z.number(), createdTime: z.number(), nodes: z.number() },
    authorName: z.string().nullable(),
  }),
)
const shownSchema = z.object({ metadata: z.custom<JsonObject>() })
const differencesSchema = z.array(z.object({ lines: z.array(z.string()) }))

/** Resolves with the exit code. */
export function chainVersions(argv: readonly string[], output?: CommandOutput): Promise<number> {
  const command = { usage: CHAIN_VERSIONS_USAGE, flags: flagsSchema, argument: 'one NAME', run }
  return runRestCommand(command, argv, output)
}

async function run({ argument: name, flags, open, output }: RestCall<z.infer<typeof flagsSchema>>): Promise<void> {
  const session = await open()
  const chain = `/api/ruleChain/${await chainIdByName(session, name)}`
  const versions = versionsSchema.parse(await session.request('GET', `${chain}/versions`))
  const idOf = (version: number): string => {
    const found = versions.find((each) => each.version === version)
    if (found === undefined) throw VersionErrors.UNKNOWN({ version, name })
    return found.id
  }
  const { show, diff, to, restore } = flags
  if (show !== undefined) {
    const { metadata } = shownSchema.parse(await session.request('GET', `${chain}/version/${idOf(show)}`))
    output.out(JSON.stringify(JSON.parse(stringifyJson({ ruleChain: { name, type: 'CORE' }, metadata })), null, 2))
  } else if (diff !== undefined) {
    const other = to === undefined ? '' : `?with=${idOf(to)}`
    const answer = await session.request('GET', `${chain}/version/${idOf(diff)}/differences${other}`)
    const lines = differencesSchema.parse(answer).flatMap((difference) => difference.lines)
    for (const line of lines.length === 0 ? ['no difference'] : lines) output.out(line)
  } else if (restore !== undefined) {
    await session.request('POST', `${chain}/version/${idOf(restore)}/restore`)
    output.out(`version ${restore} of '${name}' is in force again, as a new version`)
  } else {
    for (const { version, createdTime, authorName, nodes } of versions)
      output.out(`${version}  ${new Date(createdTime).toISOString()}  ${authorName ?? 'unknown'}  ${nodes} nodes`)
    if (versions.length === 0) output.out('no version is kept: the next save keeps one')
  }
}
