import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { JsonPayloadDecoder } from '../../payload/json.ts'
import { DEFAULT_PAYLOAD_LIMITS } from '../../payload/limits.ts'
import { JsonGatewayDecoder } from './json-payloads.ts'

const decoder = new JsonGatewayDecoder(new JsonPayloadDecoder(DEFAULT_PAYLOAD_LIMITS))

describe('JSON of gateways', () => {
  it('takes numbers for texts and texts for numbers, as the reference does', () => {
    const of = (text: string) => Buffer.from(text)
    assert.deepEqual(decoder.connect(of('{"device":7,"type":8}')), { name: '7', type: '8' })
    assert.equal(decoder.disconnect(of('{"device":true}')), 'true')
    assert.deepEqual(decoder.attributeRequest(of('{"id":"3","device":"A","client":"true","keys":["a",5]}')), {
      id: 3,
      device: 'A',
      isClient: true,
      keys: ['a', '5'],
    })
    assert.deepEqual(decoder.attributeRequest(of('{"id":3.0,"device":"A","client":"False","key":1.5}')), {
      id: 3,
      device: 'A',
      isClient: false,
      keys: ['1.5'],
    })
    assert.deepEqual(decoder.callAnswer(of('{"id":"4","device":"A","data":"x"}')), { device: 'A', id: 4, body: '"x"' })
  })

  it('takes a key that is named twice for one, which is answered as a value', () => {
    const body = Buffer.from('{"id":1,"device":"A","client":true,"keys":["a","a"]}')
    assert.deepEqual(decoder.attributeRequest(body).keys, ['a'])
  })

  it('takes nothing else for them', () => {
    const wrong = { code: 'gateway.WRONG_STRUCTURE' }
    for (const body of [
      '{"id":"x","device":"A","client":true,"key":"k"}',
      '{"id":"","device":"A","client":true,"key":"k"}',
      '{"id":1.5,"device":"A","client":true,"key":"k"}',
      '{"id":[1],"device":"A","client":true,"key":"k"}',
      '{"id":1,"device":{},"client":true,"key":"k"}',
      '{"id":1,"device":"A","client":"yes","key":"k"}',
      '{"id":1,"device":"A","client":1,"key":"k"}',
      '{"id":1,"device":"A","client":true,"keys":[{}]}',
      '{"id":1,"device":"A","client":true,"key":null}',
    ])
      assert.throws(() => decoder.attributeRequest(Buffer.from(body)), wrong, body)
  })
})
