/** Rule chains as commands name them. */
import { z } from 'zod'
import { defineErrors } from '../model/errors.ts'
import type { RestSession } from './rest-session.ts'

const ChainNameErrors = defineErrors('chain-name', {
  UNKNOWN: { kind: 'invalid', status: 404, text: "{count} rule chains are named '{name}'" },
})

const pageSchema = z.object({ data: z.array(z.object({ id: z.object({ id: z.string() }), name: z.string() })) })

/** Throws `UNKNOWN` where none or several have the name. */
export async function chainIdByName(session: RestSession, name: string): Promise<string> {
  const query = new URLSearchParams({ pageSize: '100', page: '0', textSearch: name })
  const { data } = pageSchema.parse(await session.request('GET', `/api/ruleChains?${query.toString()}`))
  const named = data.filter((chain) => chain.name === name)
  const [only] = named
  if (only === undefined || named.length > 1) throw ChainNameErrors.UNKNOWN({ name, count: named.length })
  return only.id.id
}
