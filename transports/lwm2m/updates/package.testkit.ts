/** For the tests of updates: a package of the gateway, attributes that name it, and a client that takes it. */
import assert from 'node:assert/strict'
import { OptionNumber } from '../../coap-messages/codec.ts'
import { answerOf, blockBytes } from '../../coap-messages/message.ts'
import type { FakeGateway } from '../../testkit.ts'
import type { Request, TestClient } from '../testkit.ts'

export const IMAGE = Buffer.from('0123456789abcdef0123456789ABCDEFtail')

export function serve(gateway: FakeGateway): void {
  gateway.downloadPackage = (device, { kind, title = '', version = '', size, chunk }) => {
    gateway.downloads.push([device.deviceName, { kind, title, version, size, chunk }])
    return Promise.resolve({
      ...{ title, version, packageId: 'package', fileName: 'file', contentType: '' },
      ...{ wholeBytes: IMAGE.length, release: () => undefined },
      bytes: IMAGE.subarray(size * chunk, size * (chunk + 1)),
    })
  }
}

export function wanted(prefix: 'fw' | 'sw', version: string, more: Readonly<Record<string, string>> = {}) {
  const named = Object.entries({ title: 'app', version, ...more })
  return {
    client: [],
    shared: named.map(([key, value]) => ({ key: `${prefix}_${key}`, type: 'STRING', value }) as const),
  }
}

/** Answers what comes next with a value of a pack. */
export async function answerWith(client: TestClient, path: string, value: string, observe?: number): Promise<Request> {
  const request = await client.asked()
  const payload = `[{"n":"${path}",${value}}]`
  client.reply(request, { code: '2.05', format: 110, payload, ...(observe === undefined ? {} : { observe }) })
  return request
}

/** A notification; resolves once it is acknowledged. `number` grows, and is of this one alone. */
export async function says(
  client: TestClient,
  request: Request,
  path: string,
  value: number,
  number: number,
): Promise<void> {
  client.notify(request, 5000 + number, {
    ...{ code: '2.05', format: 110, observe: number, payload: `[{"n":"${path}","v":${value}}]` },
  })
  await client.answerTo(5000 + number)
}

/** All blocks of what is written there, each answered. */
export async function takeImage(client: TestClient, path: string): Promise<Buffer> {
  const parts: Buffer[] = []
  for (;;) {
    const request = await client.asked()
    assert.ok(request.text.startsWith(`PUT ${path} format=42`), request.text)
    parts.push(request.message.payload)
    const block = request.message.options.find(({ number }) => number === OptionNumber.BLOCK1)
    assert.ok(block !== undefined)
    const isLast = ((block.value.at(-1) ?? 0) & 8) === 0
    client.reply(request, { code: isLast ? '2.04' : '2.31', options: [block] })
    if (isLast) return Buffer.concat(parts)
  }
}

export function told(gateway: FakeGateway, wantedKey: string): readonly unknown[] {
  return gateway.uploads.flatMap(({ groups }) =>
    groups.flatMap(({ entries }) => entries.flatMap(({ key, value }) => (key === wantedKey ? [value] : []))),
  )
}

/** Loads a package from where the server said, from a socket of its own. */
export async function load(client: TestClient, address: string, size = 16): Promise<Buffer> {
  const path = address.replace(/^coap:\/\/[^/]+/, '')
  const parts: Buffer[] = []
  for (let number = 0; ; number++) {
    const options = [{ number: OptionNumber.BLOCK2, value: blockBytes({ number, isMore: false, size }) }]
    const answer = await client.answerTo(client.raw.send({ code: '0.01', path, options }))
    if (answer.code !== '2.05') throw new Error(`${path} is answered with ${answer.code} ${answer.payload.toString()}`)
    parts.push(answer.payload)
    const { block2 } = answerOf(answer)
    if (block2?.isMore !== true) return Buffer.concat(parts)
  }
}
