import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid } from '../model/entity-id.ts'
import { isJsonObject } from '../model/json.ts'
import { testCatalogue } from './testkit.ts'
import { Components } from './components.ts'

test('a node is described with its relations, failure among them, under an id that stays', () => {
  const [descriptor] = new Components(testCatalogue).ofTypes(['FILTER', 'ACTION'])
  assert.ok(descriptor !== undefined)
  const { id, configurationDescriptor, clazz } = descriptor.json
  assert.equal(clazz, 'test.Node')
  assert.ok(isJsonObject(id) && typeof id['id'] === 'string' && isUuid(id['id']))
  assert.deepEqual(id, new Components(testCatalogue).find('test.Node')?.json['id'])
  assert.ok(isJsonObject(configurationDescriptor) && isJsonObject(configurationDescriptor['nodeDefinition']))
  assert.deepEqual(configurationDescriptor['nodeDefinition']['relationTypes'], ['Success', 'Failure'])
  assert.deepEqual(configurationDescriptor['nodeDefinition']['defaultConfiguration'], { byDefault: true })
})

test('only those of the types that are asked for', () => {
  assert.deepEqual(new Components(testCatalogue).ofTypes(['FILTER']), [])
  assert.equal(new Components(testCatalogue).find('test.Nope'), undefined)
})
