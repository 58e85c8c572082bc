/** `npm start -- integration watch NAME`: what an integration does, and how far it is in a file that it reads. */
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { Progress } from './progress.ts'
import { runRestCommand, wholeNumber, type CommandOutput, type RestCall } from './rest-command.ts'
import { CommandErrors, DEFAULT_SERVER, type RestSession } from './rest-session.ts'

const USAGE = `npm start -- integration watch NAME [--updates N] [--seconds N] [--url URL] [--user EMAIL] [--password TEXT]

  NAME         the integration's name
  --updates    end after so many looks (default: until stopped)
  --seconds    between two looks (default 1)
  --url, --user, --password   where and as which tenant administrator (default ${DEFAULT_SERVER.url}, ${DEFAULT_SERVER.user})

A line for each change; a bar for a file that is read.
`

const pageSchema = z.object({ data: z.array(z.object({ id: z.object({ id: z.string() }), name: z.string() })) })
const fileSchema = z.object({
  file: z.string(),
  bytesDone: z.number(),
  bytesTotal: z.number(),
  records: z.number(),
  bad: z.number(),
})
const statisticsSchema = z.object({
  state: z.string(),
  received: z.number(),
  stored: z.number(),
  failed: z.number(),
  delayed: z.number(),
  lastError: z.string().nullable(),
  progress: z.unknown(),
})
type Statistics = z.infer<typeof statisticsSchema>

const flagsSchema = z.object({
  updates: wholeNumber(1).default(Number.POSITIVE_INFINITY),
  seconds: wholeNumber(1).default(1),
})
type Flags = z.infer<typeof flagsSchema>

/** Resolves with the exit code. */
export function integration(argv: readonly string[], output?: CommandOutput): Promise<number> {
  const [word, ...rest] = argv
  const isWatch = word === 'watch'
  const run = async (call: RestCall<Flags>): Promise<void> => {
    if (!isWatch) throw CommandErrors.USAGE({ reason: USAGE.trimEnd() })
    await watch(call)
  }
  const command = { usage: USAGE, flags: flagsSchema, argument: 'the name of one integration', run }
  return runRestCommand(command, isWatch ? rest : argv, output)
}

async function watch({ argument: name, flags, open, output }: RestCall<Flags>): Promise<void> {
  const session = await open()
  const id = await idOf(session, name)
  const progress = new Progress()
  let shown = ''
  try {
    for (let look = 1; ; look++) {
      const answer = await session.request('GET', `/api/integration/${id}/statistics`)
      const statistics = statisticsSchema.parse(answer)
      const file = fileSchema.safeParse(statistics.progress)
      const line = lineOf(statistics)
      if (line !== shown && !(file.success && file.data.bytesDone < file.data.bytesTotal)) {
        progress.end()
        output.out(line)
        shown = line
      }
      if (file.success) progress.show(file.data.file, file.data.bytesDone, file.data.bytesTotal)
      if (look >= flags.updates) return
      await sleep(flags.seconds * 1000)
    }
  } finally {
    progress.end()
  }
}

function lineOf({ state, received, stored, failed, delayed, lastError }: Statistics): string {
  const counts = `received ${received}, stored ${stored}, failed ${failed}, delayed ${delayed}`
  return `${state}  ${counts}${lastError === null ? '' : `  last error: ${lastError}`}`
}

async function idOf(session: RestSession, name: string): Promise<string> {
  const path = `/api/integrations?pageSize=100&page=0&textSearch=${encodeURIComponent(name)}`
  const { data } = pageSchema.parse(await session.request('GET', path))
  const found = data.find((each) => each.name === name)
  if (found === undefined) throw CommandErrors.USAGE({ reason: `this tenant has no integration named '${name}'` })
  return found.id.id
}
