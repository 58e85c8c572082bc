/** Devices over MQTT: by token, login and certificate, over TCP, TLS and WebSocket, as a gateway and as an edge node. */
import { readFile } from 'node:fs/promises'
import { connectAsync, type IClientOptions } from 'mqtt'
import { payloadBytes, willOf } from '../../../transports/mqtt/sparkplug/testkit.ts'
import type { Authority, CertificateFiles } from '../../support/certificates.ts'
import type { RestClient } from '../../support/clients.ts'
import { LONG_AGO, madeWithToken, makeWithCertificate, makeWithToken } from './credentials.ts'
import type { Connected, Entity, Kind, Made, World } from './kinds.ts'

const TELEMETRY = 'v1/devices/me/telemetry'

interface Publishing {
  readonly topic: string
  readonly payload: (value: number) => string | Buffer
  /** What is published before anything else. */
  readonly first?: readonly (readonly [topic: string, payload: string | Buffer])[]
}

const OWN: Publishing = { topic: TELEMETRY, payload: (value) => JSON.stringify({ n: value }) }

/** What is shown by whom. */
async function connected(url: string, options: IClientOptions, publishing: Publishing = OWN): Promise<Connected> {
  const client = await connectAsync(url, {
    ...{ reconnectPeriod: 0, protocolVersion: 5, connectTimeout: 5000 },
    ...options,
  })
  client.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => client.once('close', () => resolve()))
  const publish = async (topic: string, payload: string | Buffer): Promise<boolean> => {
    if (!client.connected) return false
    const taken = client.publishAsync(topic, payload, { qos: 1 }).then(
      () => true,
      () => false,
    )
    return Promise.race([taken, ended.then(() => false)])
  }
  for (const [topic, payload] of publishing.first ?? []) await publish(topic, payload)
  return {
    ended,
    send: (value) => publish(publishing.topic, publishing.payload(value)),
    close: () => client.endAsync(true),
  }
}

const at = ({ millrace }: World, scheme: 'mqtt' | 'mqtts' | 'ws'): string =>
  scheme === 'ws'
    ? `ws://127.0.0.1:${millrace.ports['mqttws']}/mqtt`
    : `${scheme}://127.0.0.1:${millrace.ports[scheme]}`

function byToken(name: string, scheme: 'mqtt' | 'mqtts' | 'ws', protocolVersion: 4 | 5): Kind {
  return {
    name,
    make: (world, device) =>
      makeWithToken(world, device, async (username) =>
        connected(at(world, scheme), { username, protocolVersion, ...(await trust(world, scheme)) }),
      ),
  }
}

async function trust({ authority }: World, scheme: string): Promise<IClientOptions> {
  return scheme === 'mqtts' ? { ca: await readFile(authority.caFile) } : {}
}

const byLogin: Kind = {
  name: 'client id, user name and password over MQTT',
  async make(world, device) {
    const value = (password: string) => JSON.stringify({ clientId: device, userName: `user of ${device}`, password })
    const { id } = await world.rest.expect<Entity>('POST', '/api/device-with-credentials', {
      device: { name: device },
      credentials: { credentialsType: 'MQTT_BASIC', credentialsId: '', credentialsValue: value('right') },
    })
    const open = (change: IClientOptions) =>
      connected(at(world, 'mqtt'), { clientId: device, username: `user of ${device}`, password: 'right', ...change })
    return {
      ...{ deviceId: id.id, writesTo: device, others: { credentialsValue: value('later') } },
      connect: () => open({}),
      strangers: {
        'a wrong password': () => open({ password: 'wrong' }),
        'another user': () => open({ username: 'another' }),
        'another client': () => open({ clientId: 'another' }),
      },
    }
  },
}

async function shown({ certFile, keyFile }: CertificateFiles, ...behind: readonly Authority[]) {
  const chain = await Promise.all([certFile, ...behind.map(({ caFile }) => caFile)].map((file) => readFile(file)))
  return { cert: Buffer.concat(chain), key: await readFile(keyFile) }
}

const byCertificate: Kind = {
  name: 'certificate over MQTT and TLS',
  make: (world, device) =>
    makeWithCertificate(world, device, async (files) =>
      connected(at(world, 'mqtts'), { ...(await trust(world, 'mqtts')), ...(await shown(files)) }),
    ),
}

/** The members of a profile whose devices come with certificates of this authority. */
export async function chainProfile({ caFile }: Authority, name: string, allowsNew = true) {
  return {
    ...{ name, type: 'DEFAULT', transportType: 'DEFAULT', provisionType: 'X509_CERTIFICATE_CHAIN' },
    profileData: {
      configuration: { type: 'DEFAULT' },
      transportConfiguration: { type: 'DEFAULT' },
      provisionConfiguration: {
        type: 'X509_CERTIFICATE_CHAIN',
        provisionDeviceSecret: await readFile(caFile, 'utf8'),
        certificateRegExPattern: '(.*)',
        allowCreateNewDevicesByX509Certificate: allowsNew,
      },
    },
  }
}

export async function saveProfile(rest: RestClient, id: string, change: object): Promise<void> {
  await rest.expect('POST', '/api/deviceProfile', {
    ...(await rest.expect<object>('GET', `/api/deviceProfile/${id}`)),
    ...change,
  })
}

export interface MadeByChain extends Made {
  /** Of the profile that names its maker. */
  readonly profileId: string
  readonly maker: Authority
  /** Comes with a certificate of the same maker's. */
  connectAs(name: string): Promise<Connected>
}

export async function makeByChain(world: World, device: string): Promise<MadeByChain> {
  const { rest, authority } = world
  const maker = await authority.subordinate()
  const profile = await rest.expect<Entity>('POST', '/api/deviceProfile', await chainProfile(maker, `of ${device}`))
  const open = async (files: CertificateFiles, ...behind: readonly Authority[]) =>
    connected(at(world, 'mqtts'), { ...(await trust(world, 'mqtts')), ...(await shown(files, ...behind)) })
  const own = await maker.issue([device])
  const other = await authority.subordinate()
  const [alone, foreign, expired] = [
    await maker.issue([`${device} alone`]),
    await other.issue([device]),
    await maker.issue([`${device} expired`], LONG_AGO),
  ]
  // It is made when it comes.
  const first = await open(own, maker)
  await first.close()
  const { id } = await rest.expect<Entity>('GET', `/api/tenant/devices?deviceName=${encodeURIComponent(device)}`)
  return {
    ...{ deviceId: id.id, writesTo: device, profileId: profile.id.id, maker },
    // In the place of another certificate its maker would put its own again.
    others: { credentialsType: 'ACCESS_TOKEN', credentialsId: `${device} later`, credentialsValue: null },
    makeNoMore: async () => saveProfile(rest, profile.id.id, await chainProfile(maker, `of ${device}`, false)),
    connect: () => open(own, maker),
    connectAs: async (name) => open(await maker.issue([name]), maker),
    strangers: {
      'a certificate without its maker': () => open(alone),
      'a certificate of another maker': () => open(foreign, other),
      'an expired certificate': () => open(expired, maker),
    },
  }
}

const byChain: Kind = { name: 'certificate of a maker over MQTT and TLS', make: makeByChain }

const asGateway: Kind = {
  name: 'gateway over MQTT, for a device behind it',
  async make(world, device) {
    const gateway = { name: device, additionalInfo: { gateway: true } }
    const { id } = await world.rest.expect<Entity>('POST', `/api/device?accessToken=${device}`, gateway)
    const child = `behind ${device}`
    const open = (username: string) =>
      connected(
        at(world, 'mqtt'),
        { username },
        {
          topic: 'v1/gateway/telemetry',
          payload: (value) => JSON.stringify({ [child]: [{ n: value }] }),
        },
      )
    return madeWithToken(device, id.id, child, open)
  },
}

const asEdgeNode: Kind = {
  name: 'edge node of Sparkplug, for a device of it',
  async make(world, device) {
    const node = {
      ...{ name: device, additionalInfo: null },
      deviceProfileId: { entityType: 'DEVICE_PROFILE', id: world.profiles.sparkplug },
    }
    const { id } = await world.rest.expect<Entity>('POST', `/api/device?accessToken=${device}`, node)
    const topic = (type: string) => `spBv1.0/plant/${type}/${device}`
    let seq = 0
    const birth = (type: string, suffix: string) =>
      [
        `${topic(type)}${suffix}`,
        payloadBytes({ seq: seq++, metrics: [{ name: 'bdSeq', datatype: 4, long_value: 3 }] }),
      ] as const
    const open = (username: string) => {
      seq = 0
      const will = { ...willOf(3), topic: topic('NDEATH') }
      const first = [birth('NBIRTH', ''), birth('DBIRTH', '/D')]
      const properties = { sessionExpiryInterval: 0 }
      return connected(
        at(world, 'mqtt'),
        { username, will, properties },
        {
          first,
          topic: `${topic('DDATA')}/D`,
          payload: (value) => payloadBytes({ seq: seq++, metrics: [{ name: 'n', datatype: 3, int_value: value }] }),
        },
      )
    }
    return madeWithToken(device, id.id, `plant:${device}:D`, open)
  },
}

export const MQTT_KINDS: readonly Kind[] = [
  byToken('token over MQTT 3.1.1', 'mqtt', 4),
  byToken('token over MQTT 5', 'mqtt', 5),
  byToken('token over MQTT and TLS', 'mqtts', 5),
  byToken('token over MQTT and WebSocket', 'ws', 5),
  byLogin,
  byCertificate,
  byChain,
  asGateway,
  asEdgeNode,
]
