/** Against the server side of the same library, over TCP: no short message centre runs here. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import smpp, { type Pdu, type Session } from 'smpp'
import type { ShortMessageCentre } from '../../../engine/rulechain/capabilities/outbound.ts'
import { systemClock } from '../../../model/system-clock.ts'
import { AddressGuard } from '../address-guard.ts'
import { HeldTimeouts, testOutbound } from '../testkit.ts'
import { openSmpp } from './smpp.ts'

const LOGIN_REFUSED = 0x0e
const SUBMIT_FAILED = 0x45
const LATE = /no answer within/
const SETTINGS: Omit<ShortMessageCentre, 'port'> = {
  ...{ host: '127.0.0.1', protocolVersion: '3.4', systemId: 'pumps', password: 'very secret', systemType: 'X' },
  ...{ bindType: 'TX', serviceType: 'S', sourceAddress: 'Millrace', sourceTon: 5, sourceNpi: 0 },
  ...{ destinationTon: 1, destinationNpi: 1, addressRange: '', codingScheme: 0 },
}

/** A centre that says what `fate` says: a status, or nothing at all. */
async function centre(t: TestContext, settings: Partial<ShortMessageCentre> = {}) {
  const came: Pdu[] = []
  const sessions: Session[] = []
  const fate: { of: (pdu: Pdu) => number | 'silence' | 'end' } = { of: () => 0 }
  const server = smpp.createServer((session) => {
    sessions.push(session)
    session
      .on('error', () => undefined)
      .on('pdu', (pdu: Pdu) => {
        came.push(pdu)
        if (pdu.command.endsWith('_resp')) return
        const status = fate.of(pdu)
        if (status === 'end') session.destroy()
        else if (status !== 'silence') session.send(pdu.response({ command_status: status }))
      })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const clock = new HeldTimeouts()
  const client = testOutbound({ timeoutMs: clock.timeoutMs }, clock)
    .ofNode({ tenantId: 'a' })
    .open('smpp', { ...SETTINGS, port, ...settings })
  t.after(async () => {
    await client.close()
    for (const session of sessions) session.destroy()
    server.close()
  })
  const send = (text: string) => client.call({ numberTo: '+15005550009', text }, text.length)
  const submitted = () => came.filter(({ command }) => command === 'submit_sm')
  /** What is sent has no answer when the time is over. */
  const isLate = async (command: string): Promise<void> => {
    const late = assert.rejects(send('a'), LATE)
    while (!came.some((pdu) => pdu.command === command)) await new Promise(setImmediate)
    clock.end()
    await late
  }
  return { client, port, send, came, sessions, fate, submitted, isLate }
}

test('texts go out over one session, in the alphabet that has their characters', async (t) => {
  const { client, send, came, sessions, submitted } = await centre(t)
  await send('hot: ä {50}')
  await send('жарко')
  await send('x'.repeat(300))
  const [login] = came
  assert.deepEqual(
    [login?.command, login?.['system_id'], login?.['password'], login?.['system_type'], login?.['interface_version']],
    ['bind_transmitter', 'pumps', 'very secret', 'X', 0x34],
  )
  const [plain, cyrillic, long] = submitted()
  assert.ok(plain && cyrillic && long)
  const address = [
    'service_type',
    'source_addr_ton',
    'source_addr',
    'dest_addr_ton',
    'dest_addr_npi',
    'destination_addr',
  ]
  assert.deepEqual(
    address.map((member) => plain[member]),
    ['S', 5, 'Millrace', 1, 1, '15005550009'],
  )
  assert.deepEqual([plain['data_coding'], plain['short_message']], [0, { message: 'hot: ä {50}' }])
  assert.deepEqual([cyrillic['data_coding'], cyrillic['short_message']], [8, { message: 'жарко' }])
  assert.deepEqual(long['message_payload'], { message: 'x'.repeat(300) })
  assert.equal(sessions.length, 1)
  await client.close()
  assert.equal(came.at(-1)?.command, 'unbind')
})

test('what the centre refuses is told by its name, and the password is not', async (t) => {
  const { send, fate } = await centre(t)
  fate.of = ({ command }) => (command === 'submit_sm' ? SUBMIT_FAILED : 0)
  await assert.rejects(send('a'), /refused the text: ESME_RSUBMITFAIL/)
  const other = await centre(t)
  other.fate.of = () => LOGIN_REFUSED
  await assert.rejects(other.send('a'), (error: Error) => {
    assert.doesNotMatch(error.message, /very secret/)
    return /refused the log-in: ESME_RINVPASWD/.test(error.message)
  })
  other.fate.of = () => 0
  await other.send('a')
})

test('a session that was lost is made anew by the next call, and what was under way fails', async (t) => {
  const { send, sessions, fate, submitted } = await centre(t)
  fate.of = ({ command }) => (command === 'submit_sm' ? 'end' : 0)
  await assert.rejects(send('a'), /ended before the centre answered/)
  fate.of = () => 0
  await send('b')
  assert.deepEqual([sessions.length, submitted().length], [2, 2])
})

test('a centre that owes an answer is left when the time is over', async (t) => {
  const { send, sessions, fate, isLate } = await centre(t)
  fate.of = ({ command }) => (command === 'submit_sm' ? 'silence' : 0)
  await isLate('submit_sm')
  fate.of = () => 0
  await send('b')
  assert.equal(sessions.length, 2)
  const mute = await centre(t)
  mute.fate.of = () => 'silence'
  await mute.isLate('bind_transmitter')
})

test('a log-in that a centre does not answer holds up no close, be it the first or a later one', async (t) => {
  for (const isLater of [false, true]) {
    const { client, send, came, fate } = await centre(t)
    if (isLater) {
      fate.of = ({ command }) => (command === 'submit_sm' ? 'end' : 0)
      await assert.rejects(send('a'), /ended before the centre answered/)
    }
    const before = came.length
    fate.of = () => 'silence'
    const failed = assert.rejects(send('b'), /it is closed/)
    while (!came.slice(before).some(({ command }) => command === 'bind_transmitter')) await new Promise(setImmediate)
    const begun = performance.now()
    await client.close()
    await failed
    assert.ok(performance.now() - begun < 20_000)
  }
})

test('a client that was closed while its library was loaded logs in nowhere', async (t) => {
  const { port, sessions } = await centre(t)
  const parts = { guard: new AddressGuard(['127.0.0.0/8']), clock: systemClock, answerLimit: 1000 }
  const opening = async () => {
    await openSmpp({ ...SETTINGS, port }, { ...parts, closing: AbortSignal.abort() })
  }
  await assert.rejects(opening, /it is closed/)
  assert.equal(sessions.length, 0)
})

test(
  'a centre that asks whether the session lives, or brings a receipt, is answered',
  { timeout: 120_000 },
  async (t) => {
    const { send, came, sessions } = await centre(t, { bindType: 'TRX' })
    await send('a')
    assert.equal(came[0]?.command, 'bind_transceiver')
    const [session] = sessions
    assert.ok(session)
    session.socket.write(Buffer.from('00000010000000150000000000000007', 'hex'))
    const deliver = '0000000500000000000000080000003100313233000000340035000000000000000000'
    const bytes = Buffer.from(deliver, 'hex')
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length + 4)
    session.socket.write(Buffer.concat([length, bytes]))
    while (came.filter(({ command }) => /^(enquire_link|deliver_sm)_resp$/.test(command)).length < 2)
      await once(session, 'pdu')
  },
)

test('what can not be said in the coding that was asked for is not sent', async (t) => {
  const ascii = await centre(t, { codingScheme: 1, protocolVersion: '3.3' })
  await assert.rejects(ascii.send('50 °C'), /'°' can not be said in coding scheme 1/)
  await assert.rejects(ascii.send('x'.repeat(255)), /255 octets/)
  await ascii.send('x'.repeat(254))
  assert.equal(ascii.submitted().length, 1)
  const latin = await centre(t, { codingScheme: 3 })
  await latin.send('50 °C')
  await assert.rejects(latin.send('жарко'), /coding scheme 3/)
})

for (const [name, bytes, reason] of [
  ['a packet longer than any', 'ffffffff80000002', /too large/],
  ['a packet shorter than its head', '000000088000000200', /range|bounds/],
  ['an answer cut short', '0000001180000002000000000000000141', LATE],
  ['nonsense', '00000020deadbeef00000000000000010102030405060708090a0b0c0d0e0f10', LATE],
] as const)
  test(`a centre that sends ${name} fails the call, not the process`, async (t) => {
    const clock = new HeldTimeouts()
    const server = createServer((socket) => {
      socket.on('error', () => undefined).write(Buffer.from(bytes, 'hex'))
      if (reason === LATE) setTimeout(() => clock.end(), 100)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const client = testOutbound({ timeoutMs: clock.timeoutMs }, clock)
      .ofNode({ tenantId: 'a' })
      .open('smpp', { ...SETTINGS, port })
    t.after(() => client.close())
    await assert.rejects(client.call({ numberTo: '+1', text: 'a' }, 1), reason)
  })

test('an internal address is refused', async () => {
  const guarded = testOutbound({ allowedAddresses: [] }).ofNode({ tenantId: 'a' })
  for (const host of ['127.0.0.1', 'localhost']) {
    const client = guarded.open('smpp', { ...SETTINGS, host, port: 2775 })
    await assert.rejects(client.call({ numberTo: '+1', text: 'a' }, 1), { code: 'outbound.ADDRESS_INTERNAL' })
    await client.close()
  }
})
