/** Real servers for tests: started on free loopback ports with a data folder of their own, ended with the test. */
export { canRunKafka, startKafka } from './kafka.ts'
export { startNats, startNatsCluster, type NatsCluster, type NatsOptions, type NatsRoute } from './nats.ts'
export { startPostgres, type PostgresOptions } from './postgres.ts'
export { startQuestDb, type QuestDbOptions, type RunningQuestDb } from './questdb.ts'
export { canRunRabbitMq, startRabbitMq } from './rabbitmq.ts'
export { startValkey, type ValkeyOptions } from './valkey.ts'
export { requireOwnServer, requireServer } from './require-server.ts'
export type { RunningServer, ServerName, StoreServer } from './server.ts'
