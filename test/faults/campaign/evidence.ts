/** Where a value that is lost to a reader was last seen: what a finding is worth depends on it. */
import { RestClient, login } from '../../support/clients.ts'
import type { Journal } from './journal.ts'
import type { World } from './world.ts'

const TABLE = 'millrace_points'

/** Sentences for people; none of what could not be asked, but why. */
export async function evidenceOf(world: World, journals: readonly Journal[]): Promise<readonly string[]> {
  const questions = [deadLetters(world), ...journals.map((journal) => rowsOf(world, journal))]
  const answers = await Promise.allSettled(questions)
  return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : `not known: ${String(answer.reason)}`))
}

async function deadLetters({ api }: World): Promise<string> {
  const rest = new RestClient(api.process, await login(api.process))
  const { data } = await rest.expect<{ data: readonly { reason: string }[] }>('GET', '/api/deadLetters?limit=100')
  return `${data.length} of at most 100 messages are dead letters: ${data[0]?.reason ?? 'no reason'}`
}

/** Past Millrace, and past every index of QuestDB. */
async function rowsOf({ servers }: World, { device, sent }: Journal): Promise<string> {
  const [questdb] = servers.questdb
  if (questdb === undefined) return `${device.name}: no server to ask past Millrace`
  const sql = `select shard, count(), count_distinct(ts), min(ts), max(ts) from ${TABLE} where entity = '${device.deviceId}'`
  const response = await fetch(`${questdb.url}/exec?query=${encodeURIComponent(sql)}`)
  const text = await response.text()
  return `${device.name} sent ${sent.length}; QuestDB holds of ${device.deviceId}: ${text.slice(text.indexOf('"dataset"'), 1000)}`
}
