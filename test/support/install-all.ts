/**
 * Installs what tests drive before the first of them asks for it: `npm test` runs it beside its checks, and goes on meanwhile. A test that
 * comes to one sooner waits for it; one that can not be had is that test's to tell.
 */
import { composeLoader, pythonTools, queryParser } from './deployment-checkers.ts'
import { dtlsProxyProgram } from './dtls-proxy.ts'
import { canRunLeshan, leshanClient } from './leshan-client.ts'
import {
  pythonClients,
  pythonCoapClient,
  pythonGateway,
  pythonGeneratedClient,
  pythonMoto,
  pythonMqttClient,
  pythonSparkplugClient,
} from './python-clients.ts'
import { hasTool } from './require-tool.ts'
import { canRunKafka, kafkaJars } from './servers/kafka.ts'
import { canRunNats, natsBinary } from './servers/nats.ts'
import { canRunPostgres, postgresBinaries } from './servers/postgres.ts'
import { canRunQuestDb, questDbJar } from './servers/questdb.ts'
import { canRunValkey, valkeyBinary } from './servers/valkey.ts'

type Installation = () => Promise<string>

const hasPython = hasTool('python3')
const hasGo = hasTool('go')

/** Those of tests beside the code first. One after the other: the checks and the tests want the machine too. */
const installations: readonly (readonly [boolean, ...Installation[]])[] = [
  [canRunNats(), natsBinary],
  [canRunPostgres(), postgresBinaries],
  [canRunValkey(), valkeyBinary],
  [hasPython, pythonMoto],
  [canRunKafka(), kafkaJars],
  [canRunQuestDb(), questDbJar],
  [hasPython, pythonCoapClient, pythonTools],
  [hasGo, composeLoader, queryParser],
  [canRunLeshan(), leshanClient, dtlsProxyProgram],
  [hasPython, pythonClients, pythonGateway, pythonMqttClient, pythonGeneratedClient, pythonSparkplugClient],
]

for (const [isPossible, ...installs] of installations) {
  if (!isPossible) continue
  for (const install of installs) {
    await install().catch((error: unknown) => process.stderr.write(`not installed yet: ${String(error)}\n`))
  }
}
