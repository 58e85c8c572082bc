import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answered, bench, born, commands, data, DBIRTH, NBIRTH } from './node.testkit.ts'
import { NODE } from './testkit.ts'

const REBIRTH = [`${NODE}/NCMD/node`, [{ alias: 1, datatype: 11, boolean_value: true }]]
const metric = { alias: 2, int_value: 1 }
const command = { metrics: [{ name: 'speed', datatype: 3, int_value: 1 }] }

describe('a rebirth', () => {
  it('is not asked for because of commands of the node’s own, which have no number', () =>
    bench(async (opened) => {
      const { node } = opened
      await born(opened)
      await answered(node, 'NODE/NDATA/node', data(2, metric))
      await answered(node, 'NODE/NCMD/node', command)
      await answered(node, 'NODE/NDATA/node', data(3, metric))
      await answered(node, 'NODE/DCMD/node/D', { metrics: [{ alias: 4, int_value: 1 }] })
      await answered(node, 'NODE/NDATA/node', data(4, metric))
      // A client that counts them.
      await answered(node, 'NODE/NCMD/node', { ...command, seq: 5 })
      await answered(node, 'NODE/NDATA/node', data(6, metric))
      // One that gives all of them the same number.
      await answered(node, 'NODE/NCMD/node', { ...command, seq: 0 })
      await answered(node, 'NODE/NDATA/node', data(7, metric))
      assert.deepEqual(commands(node), [])
      await answered(node, 'NODE/NDATA/node', data(9, metric))
      assert.deepEqual(commands(node), [REBIRTH])
    }))

  it('is not asked for beside the one that a user asked for', () =>
    bench(async (opened) => {
      const { node } = opened
      await born(opened)
      const [session] = opened.gateway.sessionsOf('one')
      const before = node.packets.length
      const params = '{"metricName":"Node Control/Rebirth","value":true}'
      session?.listener.called?.({ id: 1, method: 'NCMD', params })
      await node.received(before + 1)
      assert.deepEqual(commands(node), [REBIRTH])
      // The node is born first; what its device says before its own birth is on the way already.
      await answered(node, 'NODE/NBIRTH/node', NBIRTH)
      await answered(node, 'NODE/DDATA/node/D', data(1, { name: 'temperature', datatype: 10, double_value: 1 }))
      await answered(node, 'NODE/DBIRTH/node/D', { ...DBIRTH, seq: 2 })
      assert.deepEqual(commands(node), [REBIRTH])
      opened.clock.advance(61_000)
      await answered(node, 'NODE/NDATA/node', data(4, metric))
      assert.deepEqual(commands(node), [REBIRTH, REBIRTH])
    }))
})
