/** Uploads and downloads as the clients of several languages write them (`rest-api.md` 3.4, 14.3). */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { login, RestClient } from '../support/clients.ts'
import { startMillrace, type RunningMillrace } from '../support/start-millrace.ts'

const DOT = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

interface Image {
  readonly title: string
  readonly fileName: string
  readonly resourceKey: string
  readonly public: boolean
  readonly link: string
}

describe('uploads and downloads', () => {
  let millrace: RunningMillrace
  let token: string
  let client: RestClient

  before(async () => {
    millrace = await startMillrace()
    token = await login(millrace)
    client = new RestClient(millrace, token)
  })
  after(() => millrace.stop())

  /** The bytes leave one by one where `byBytes` says so. */
  async function upload(path: string, head: string, byBytes = false): Promise<string> {
    const body = Buffer.concat([Buffer.from(`--b\r\n${head}\r\n\r\n`), DOT, Buffer.from('\r\n--b--\r\n')])
    const headers = {
      'x-authorization': `Bearer ${token}`,
      'content-type': 'multipart/form-data; boundary="b"',
      'content-length': body.length,
    }
    return new Promise((resolve, reject) => {
      const call = request(millrace.url + path, { method: 'POST', headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (part: string) => (text += part))
        answer.on('end', () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(text))))
      })
      call.on('error', reject)
      call.setNoDelay(true)
      if (byBytes) for (const byte of body) call.write(Buffer.of(byte))
      call.end(byBytes ? undefined : body)
    })
  }

  test('takes an image from .NET, from a browser, and byte by byte', async () => {
    const dotNet =
      'Content-Type: image/gif\r\nContent-Disposition: form-data; name=file; filename="=?utf-8?B?w7wuZ2lm?="'
    const browser = 'Content-Disposition: form-data; name="file"; filename="a%22b ü.gif"'
    for (const [head, byBytes, name] of [
      [`${dotNet}; filename*=utf-8''%C3%BC.gif`, false, 'ü.gif'],
      [browser, true, 'a"b ü.gif'],
    ] as const) {
      const image = JSON.parse(await upload('/api/image', head, byBytes)) as Image
      assert.deepEqual([image.title, image.fileName], [name, name])
      const shown = await fetch(encodeURI(millrace.url + image.link), {
        headers: { 'x-authorization': `Bearer ${token}` },
      })
      assert.deepEqual(Buffer.from(await shown.arrayBuffer()), DOT)
    }
  })

  test('hides an image for a client that writes its booleans as Python does', async () => {
    const image = JSON.parse(
      await upload('/api/image', 'Content-Disposition: form-data; name="file"; filename="hidden.gif"'),
    ) as Image
    const hidden = await client.expect<Image>('PUT', `/api/images/tenant/${image.resourceKey}/public/False`)
    assert.equal(hidden.public, false)
    assert.equal((await client.call('PUT', `/api/images/tenant/${image.resourceKey}/public/no`)).status, 400)
    assert.equal((await client.call('GET', '/api/lwm2m/deviceProfile/bootstrap/True')).status, 200)
  })

  test('gives a package back under its name, in whatever letters', async () => {
    const { id: profile } = await client.expect<{ id: object }>('GET', '/api/deviceProfileInfo/default')
    const draft = { deviceProfileId: profile, type: 'FIRMWARE', title: 'fw', version: '1' }
    const made = await client.expect<{ id: { id: string } }>('POST', '/api/otaPackage', draft)
    const path = `/api/otaPackage/${made.id.id}`
    await upload(`${path}?checksumAlgorithm=MD5`, 'Content-Disposition: form-data; name="file"; filename="ü;1.bin"')
    const file = await fetch(`${millrace.url}${path}/download`, { headers: { 'x-authorization': `Bearer ${token}` } })
    assert.equal(file.headers.get('content-disposition'), "attachment;filename=__1.bin;filename*=UTF-8''%C3%BC%3B1.bin")
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), DOT)
  })
})
