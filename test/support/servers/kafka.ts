/** Apache Kafka from Maven Central: one process that is broker and controller. */
import { spawnSync } from 'node:child_process'
import { connect as connectSocket } from 'node:net'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasTool } from '../require-tool.ts'
import { installOnce, runInstaller } from './install.ts'
import { runServer, type PlaceOptions, type ServerDefinition } from './running-server.ts'
import type { RunningServer } from './server.ts'

const VERSION = '3.9.1'
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies'
const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qg'
/** What no broker of a test needs, and is large. */
const LEFT_OUT = ['rocksdbjni', 'scala-reflect']

export function startKafka(options: PlaceOptions = {}): Promise<RunningServer> {
  return kafkaJars().then((jars) => runServer(definition(jars), options))
}

/** True when `startKafka` has a way to a server here. */
export function canRunKafka(): boolean {
  return hasTool('java') && hasTool('mvn')
}

/** The folder that has them. Throws when it can not be had. */
export async function kafkaJars(): Promise<string> {
  return installOnce(`kafka-${VERSION}`, async (target) => {
    await writeFile(join(target, 'pom.xml'), POM)
    const parameters = ['-q', '-B', COPY, `-DoutputDirectory=${target}`, '-DincludeScope=runtime']
    await runInstaller('mvn', [...parameters, `-DexcludeArtifactIds=${LEFT_OUT.join(',')}`], { folder: target })
  })
}

/** Maven checks each file against the checksum that lies beside it. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>millrace.test</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${VERSION}</version></dependency>
  </dependencies>
</project>
`

function definition(jars: string): ServerDefinition {
  const java = ['-Xms64m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', join(jars, '*')]
  return {
    name: 'kafka',
    portCount: 2,
    url: ([port]) => `127.0.0.1:${port}`,
    answers: ([port = 0]) => accepts(port),
    prepare: async (folders, [port = 0, controller = 0]) => {
      const file = join(folders.work, 'server.properties')
      await writeFile(file, properties(folders.data, port, controller))
      const format = ['kafka.tools.StorageTool', 'format', '--ignore-formatted', '-t', CLUSTER_ID, '-c', file]
      const { status, stderr } = spawnSync('java', [...java, ...format], { encoding: 'utf8' })
      if (status !== 0) throw new Error(`Kafka's storage was not made: ${stderr}`)
      return { command: 'java', parameters: [...java, 'kafka.Kafka', file], endSignal: 'SIGTERM' }
    },
  }
}

function properties(data: string, port: number, controller: number): string {
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `controller.quorum.voters=1@127.0.0.1:${controller}`,
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controller}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    `log.dirs=${data}/log`,
    'offsets.topic.replication.factor=1',
    'num.partitions=1',
    '',
  ].join('\n')
}

/** It listens when it serves. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1')
    const done = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, done(false))
    socket.once('error', done(false))
    socket.once('connect', done(true))
  })
}
