/** Pictures in dashboards, widgets, bundles and profiles, over REST. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import sharp from 'sharp'
import { isJsonObject, parseJson, type JsonObject } from '../../../model/json.ts'
import { openRestWorld, type RestWorld } from '../../../test/security/rest-world.ts'

let world: RestWorld
beforeEach(async () => {
  world = await openRestWorld()
})
afterEach(() => world.close())

async function call(path: string, body?: JsonObject): Promise<JsonObject> {
  const headers = { 'x-authorization': `Bearer ${world.tenant}` }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${world.url}/api/${path}`, { headers, ...sent })
  const json = parseJson(await answer.text())
  assert.equal(answer.status, 200, JSON.stringify(json))
  assert.ok(isJsonObject(json))
  return json
}

test('a save takes pictures out, and a read gives them back where it asks for them', async () => {
  const bytes = await sharp({ create: { width: 3, height: 3, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const picture = `data:image/png;base64,${bytes.toString('base64')}`
  const link = 'tb-image;/api/images/tenant/plan_dashboard_image.png'
  const known = ['plan_dashboard_image.png', '"Plan" dashboard image', 'IMAGE']
  const inlined = `tb-image:${known.map((part) => Buffer.from(part).toString('base64')).join(':')};${picture}`
  const profile = { type: 'DEFAULT', transportType: 'DEFAULT', profileData: {} }
  const made: readonly (readonly [string, string, JsonObject])[] = [
    ['dashboard', 'configuration', { title: 'Plan', configuration: { background: picture } }],
    ['dashboard', 'image', { title: 'Small', image: picture }],
    ['widgetType', 'image', { name: 'Card', fqn: 'card', image: picture, descriptor: { type: 'latest' } }],
    ['widgetType', 'descriptor', { name: 'Map', fqn: 'map', descriptor: { type: 'latest', marker: picture } }],
    ['widgetsBundle', 'image', { title: 'Cards', image: picture }],
    ['deviceProfile', 'image', { name: 'meter', image: picture, ...profile }],
    ['assetProfile', 'image', { name: 'house', image: picture }],
  ]
  for (const [path, member, draft] of made) {
    const saved = await call(path, draft)
    const expected = (text: string): string => JSON.stringify(draft[member]).replace(picture, text)
    assert.equal(JSON.stringify(saved[member]), expected(link), path)
    const { id } = isJsonObject(saved['id']) ? saved['id'] : {}
    assert.ok(typeof id === 'string')
    assert.equal(JSON.stringify((await call(`${path}/${id}`))[member]), expected(link), path)
    const shown = await call(`${path}/${id}?inlineImages=true`)
    assert.equal(JSON.stringify(shown[member]), expected(inlined), path)
    assert.deepEqual(Object.keys(shown), Object.keys(saved), path)
  }
})

test('what brings its files may be as large as an export, beyond other bodies', async () => {
  const link = '/api/resource/js_module/tenant/large.js'
  const data = Buffer.alloc(100_000, '/').toString('base64')
  const resources = [{ link, title: 'Large', type: 'JS_MODULE', fileName: 'large.js', data }]
  const shown = { module: `tb-resource;${link}` }
  for (const [path, draft] of [
    ['dashboard', { title: 'Large', configuration: shown }],
    ['widgetType', { name: 'Large', fqn: 'large', descriptor: { type: 'latest', ...shown } }],
  ] as const) {
    const { id } = await call(path, { ...draft, resources })
    assert.ok(isJsonObject(id) && typeof id['id'] === 'string')
    const exported = await call(`${path}/${id['id']}?includeResources=true`)
    const [file] = Array.isArray(exported['resources']) ? exported['resources'] : []
    assert.ok(isJsonObject(file))
    assert.deepEqual([file['link'], file['data']], [link, data], path)
  }
})
