import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openRestWorld, type RestWorld } from '../../test/security/rest-world.ts'

interface Description {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
}

describe('the API description', () => {
  let world: RestWorld

  before(async () => {
    world = await openRestWorld()
  })
  after(() => world.close())

  test('names each declared call once, with every parameter of its path', async () => {
    const response = await fetch(`${world.url}/v3/api-docs`)
    const { openapi, paths } = (await response.json()) as Description
    assert.equal(openapi, '3.1.0')
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, operation })),
    )
    assert.ok(operations.length > 20)
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.equal(new Set(ids).size, ids.length)
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = operation.parameters.filter((parameter) => parameter.in === 'path' && parameter.required)
      assert.deepEqual(
        declared.map(({ name }) => name),
        named,
        path,
      )
      assert.match(operation.tags.join(), /^\w+(-\w+)*$/, `${path}: the page shows it as a heading`)
    }
  })

  test('has each schema of an entity once, and every reference leads to one', async () => {
    const text = await (await fetch(`${world.url}/v3/api-docs`)).text()
    const { components } = JSON.parse(text) as { components: { schemas: Readonly<Record<string, object>> } }
    const references = [...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = '']) => name)
    assert.ok(references.length > 50)
    for (const name of references) assert.ok(name in components.schemas, name)
    assert.equal(text.match(/"title":"Asset"/g)?.length, 1)
  })

  test('is shown by a page that loads nothing from other hosts', async () => {
    const page = await (await fetch(`${world.url}/swagger-ui`)).text()
    const links = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link)
    assert.ok(links.length >= 4)
    for (const link of links) {
      assert.ok(link.startsWith('/'), link)
      const file = await fetch(world.url + link)
      assert.equal(file.status, 200, link)
      assert.match(file.headers.get('content-security-policy') ?? '', /default-src 'none'; connect-src 'self'/)
      assert.ok((await file.arrayBuffer()).byteLength > 100, link)
    }
  })

  test('has no other files to give', async () => {
    for (const name of ['package.json', '..%2fpackage.json', 'constructor', 'swagger-ui.js.map'])
      assert.equal((await fetch(`${world.url}/swagger-ui/${name}`)).status, 404, name)
  })
})
