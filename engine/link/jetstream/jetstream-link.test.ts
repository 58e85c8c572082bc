import { after, before, test } from 'node:test'
import { canRunNats } from '../../../test/support/servers/nats.ts'
import {
  requireServer,
  startNats,
  startNatsCluster,
  type NatsCluster,
  type RunningServer,
} from '../../../test/support/servers/index.ts'
import { testLink } from '../contract.ts'
import { jetStreamUnderTest, newPrefix } from './nats-testkit.ts'

test('a NATS server can be had', (context) => void requireServer(context, 'nats'))

if (process.env['TEST_NATS_URL'] !== undefined || canRunNats()) {
  let server: RunningServer | undefined
  before(async () => {
    server = await startNats({ syncInterval: 'always' })
  })
  after(() => server?.stop())
  testLink('JetStream, synced', () => jetStreamUnderTest({ servers: server?.url ?? '', prefix: newPrefix() }))
}

if (canRunNats()) {
  let cluster: NatsCluster | undefined
  before(async () => {
    cluster = await startNatsCluster(3)
  })
  after(() => cluster?.stop())
  testLink('JetStream, three copies', () =>
    jetStreamUnderTest({ servers: cluster?.url ?? '', prefix: newPrefix(), settings: { replicas: 3 } }),
  )
}
