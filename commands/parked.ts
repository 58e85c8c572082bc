/** `npm start -- parked`: which devices' messages fail again and again and wait apart; to try one now, or to give it up. */
import { z } from 'zod'
import { runRestCommand, wholeNumber, type CommandOutput, type RestCall } from './rest-command.ts'
import { DEFAULT_SERVER, type RestSession } from './rest-session.ts'

const USAGE = `npm start -- parked [--page N] [--rows N] [--json] [--retry ID | --dead-letters ID] [--url URL] [--user EMAIL] [--password TEXT]

  --retry         try the messages of ID now
  --dead-letters  move all messages of ID to the dead letters
  --page, --rows  which part of the list (default the first 20)
  --json          the server's answer as it is
  --url, --user, --password   where and as whom (default ${DEFAULT_SERVER.url}, ${DEFAULT_SERVER.user}; environment: MILLRACE_URL,
                  MILLRACE_USER, MILLRACE_PASSWORD): a tenant administrator sees the own tenant's, the system administrator all
`

const laneSchema = z.object({
  id: z.string(),
  tenantId: z.object({ id: z.string() }),
  queueName: z.string(),
  originator: z.object({ entityType: z.string(), id: z.string() }),
  messages: z.number(),
  bytes: z.number(),
  reason: z.string(),
  since: z.number(),
  tries: z.number(),
  nextTry: z.number().nullable(),
  state: z.string(),
})
const pageSchema = z.object({ data: z.array(laneSchema), totalElements: z.number(), totalPages: z.number() })

const flagsSchema = z
  .object({
    page: wholeNumber().default(0),
    rows: wholeNumber().default(20),
    json: z.boolean().default(false),
    retry: z.string().optional(),
    'dead-letters': z.string().optional(),
  })
  .refine(
    (flags) => flags.retry === undefined || flags['dead-letters'] === undefined,
    'either --retry or --dead-letters',
  )
type Flags = z.infer<typeof flagsSchema>

/** Resolves with the exit code. */
export function parked(argv: readonly string[], output?: CommandOutput): Promise<number> {
  const command = {
    usage: USAGE,
    flags: flagsSchema,
    run: async ({ flags, open, output: to }: RestCall<Flags>) => {
      const session = await open()
      const { retry, 'dead-letters': letters } = flags
      const act = (id: string, path: string): Promise<unknown> =>
        session.request('POST', `/api/parked/${encodeURIComponent(id)}/${path}`, {})
      if (retry !== undefined) {
        await act(retry, 'retry')
        to.out('being tried now')
      } else if (letters !== undefined) {
        await act(letters, 'deadLetters')
        to.out('moved to the dead letters')
      } else await show(session, flags, to)
    },
  }
  return runRestCommand(command, argv, output)
}

async function show(session: RestSession, { page, rows, json }: Flags, output: CommandOutput): Promise<void> {
  const answer = await session.request('GET', `/api/parked?pageSize=${rows}&page=${page}`)
  if (json) return output.out(JSON.stringify(answer, null, 2))
  const { data, totalElements } = pageSchema.parse(answer)
  output.out(`${totalElements} parked${data.length === 0 ? '' : `, ${data.length} shown`}`)
  for (const lane of data) output.out(`\n${laneText(lane)}`)
}

function laneText(lane: z.infer<typeof laneSchema>): string {
  const { originator, queueName, messages, bytes, tries, nextTry, state } = lane
  const next = nextTry === null ? state : `next try ${new Date(nextTry).toISOString()}`
  return [
    `${originator.entityType} ${originator.id}  queue ${queueName}  tenant ${lane.tenantId.id}`,
    `  ${messages} messages, ${bytes} bytes, since ${new Date(lane.since).toISOString()}, ${tries} tries, ${next}`,
    `  ${lane.reason}`,
    `  ${lane.id}`,
  ].join('\n')
}
