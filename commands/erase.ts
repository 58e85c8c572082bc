/** `npm start -- erase`: takes what was deleted out of the files, and says whether it is gone. */
import { z } from 'zod'
import { runRestCommand, type CommandOutput, type RestCall } from './rest-command.ts'
import { DEFAULT_SERVER, SYSTEM_LOGIN } from './rest-session.ts'

const USAGE = `npm start -- erase

  Takes what deleted devices, users and tenants left out of the files of the stores, and says of each store whether it is gone, when it will
  be, or what its administrator must do. Writes may wait meanwhile.
  --url URL --user EMAIL --password TEXT   where and as which system administrator (default ${DEFAULT_SERVER.url}, ${SYSTEM_LOGIN.user};
                                           environment: MILLRACE_URL, MILLRACE_SYSTEM_USER, MILLRACE_SYSTEM_PASSWORD)
`

const reportSchema = z.object({
  pending: z.number(),
  stores: z.array(
    z.object({ store: z.string(), gone: z.boolean(), by: z.number().nullable(), rest: z.string().nullable() }),
  ),
})

/** Resolves with the exit code. */
export function erase(argv: readonly string[], output?: CommandOutput): Promise<number> {
  const run = async ({ open, output: to }: RestCall<object>): Promise<void> => {
    const session = await open()
    const { pending, stores } = reportSchema.parse(await session.request('POST', '/api/admin/erasure', {}))
    for (const { store, gone, by, rest } of stores) {
      const when = by === null ? 'not yet' : `by ${new Date(by).toISOString()}`
      to.out(`${store}: ${gone ? 'gone' : when}${rest === null ? '' : `; ${rest}`}`)
    }
    if (pending > 0) to.out(`${pending} deleted entities still have something under way: ask once more`)
  }
  return runRestCommand({ usage: USAGE, flags: z.object({}), login: SYSTEM_LOGIN, run }, argv, output)
}
