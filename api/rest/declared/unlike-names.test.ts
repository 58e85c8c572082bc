/** A save that asks for a name of its own where the one it says is taken. Source: `rest-api.md` 3.3. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isJsonObject, parseJson, type JsonObject } from '../../../model/json.ts'
import { openRestWorld } from '../../../test/security/rest-world.ts'

test('devices, assets, customers and entity views take a free name where the call says UNIQUIFY', async (context) => {
  const world = await openRestWorld()
  context.after(() => world.close())
  const save = async (path: string, body: JsonObject) => {
    const headers = { 'x-authorization': `Bearer ${world.tenant}` }
    const answer = await fetch(`${world.url}/api/${path}`, { headers, method: 'POST', body: JSON.stringify(body) })
    const json = parseJson(await answer.text())
    assert.ok(isJsonObject(json))
    return { status: answer.status, json }
  }
  const source = await save('device', { name: 'source' })
  assert.equal(source.status, 200)
  const kinds: readonly (readonly [string, string, JsonObject])[] = [
    ['device', 'name', {}],
    ['asset', 'name', {}],
    ['customer', 'title', {}],
    [
      'entityView',
      'name',
      { type: 't', entityId: source.json['id'] ?? null, keys: null, startTimeMs: 0, endTimeMs: 0 },
    ],
  ]
  const numbered = 'nameConflictPolicy=UNIQUIFY&uniquifyStrategy=INCREMENTAL'
  for (const [path, member, more] of kinds) {
    const draft = { ...more, [member]: 'D1' }
    const first = await save(`${path}?nameConflictPolicy=UNIQUIFY`, draft)
    assert.deepEqual([first.status, first.json[member]], [200, 'D1'], `${path}: ${JSON.stringify(first.json)}`)
    for (const query of ['', '?nameConflictPolicy=FAIL'])
      assert.equal((await save(`${path}${query}`, draft)).json['message'], refusal(path))
    const names = []
    for (const query of [`${numbered}&uniquifySeparator=-`, `${numbered}&uniquifySeparator=-`, numbered])
      names.push((await save(`${path}?${query}`, draft)).json[member])
    assert.deepEqual(names, ['D1-1', 'D1-2', 'D1_1'], path)
    const random = await save(`${path}?nameConflictPolicy=UNIQUIFY`, draft)
    assert.match(JSON.stringify(random.json[member]), /^"D1_[A-Za-z0-9]{6}"$/, path)
    // Its own name is nobody else's.
    const again = await save(`${path}?nameConflictPolicy=UNIQUIFY`, first.json)
    assert.deepEqual([again.status, again.json[member]], [200, 'D1'], path)
    assert.equal((await save(`${path}?nameConflictPolicy=MAYBE`, draft)).status, 400, path)
  }
})

function refusal(path: string): string {
  if (path === 'customer') return 'Customer with such title already exists!'
  const label = path === 'entityView' ? 'Entity view' : `${path.charAt(0).toUpperCase()}${path.slice(1)}`
  return `${label} with such name already exists!`
}
