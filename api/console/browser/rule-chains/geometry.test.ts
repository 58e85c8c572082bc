import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HEIGHT, WIDTH, fitted, freePlace, inDrawing, nextThatWay, zoomed } from './geometry.js'

const NODES = [
  { key: 1, x: 0, y: 0 },
  { key: 2, x: 300, y: 20 },
  { key: 3, x: 300, y: 300 },
  { key: 4, x: 0, y: 150 },
]

test('an arrow leads to the node that lies that way, and nowhere where none does', () => {
  const ways = (['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp'] as const).map((arrow) =>
    nextThatWay(NODES, 1, arrow),
  )
  assert.deepEqual(ways, [2, 4, undefined, undefined])
  assert.equal(nextThatWay(NODES, 3, 'ArrowUp'), 2)
  assert.equal(nextThatWay(NODES, 9, 'ArrowUp'), undefined)
})

test('every node is in the window that shows all', () => {
  const room = { width: 500, height: 400 }
  const view = fitted(NODES, 1, room)
  for (const { x, y } of NODES) {
    assert.ok(x * view.scale + view.left >= 0 && (x + WIDTH) * view.scale + view.left <= room.width)
    assert.ok(y * view.scale + view.top >= 0 && (y + HEIGHT) * view.scale + view.top <= room.height)
  }
})

test('what lies under the pointer stays there when one zooms', () => {
  const view = { left: 10, top: 20, scale: 1 }
  const at = { x: 123, y: 45 }
  const before = inDrawing(view, at)
  const after = inDrawing(zoomed(view, 1.5, at), at)
  assert.ok(Math.abs(before.x - after.x) < 1e-9 && Math.abs(before.y - after.y) < 1e-9)
})

test('a new node lies on no other', () => {
  const place = freePlace(NODES, { x: 310, y: 10 })
  for (const { x, y } of NODES) assert.ok(Math.abs(x - place.x) >= WIDTH || Math.abs(y - place.y) >= HEIGHT)
})
