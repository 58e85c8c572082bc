import { testTimeSeriesStore } from '../contract.ts'
import { freshPlace, serversForFile } from './testkit.ts'

const servers = await serversForFile()
if (servers !== undefined) {
  const place = await freshPlace(servers)
  testTimeSeriesStore('the QuestDB time-series store', () => place.open())
}
