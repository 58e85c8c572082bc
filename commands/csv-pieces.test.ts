import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { csvPieces } from './csv-pieces.ts'
import { ErrorLines } from './error-lines.ts'

async function fileOf(context: TestContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-pieces-'))
  context.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'a.csv')
  await writeFile(file, text)
  return file
}

async function piecesOf(file: string, bounds: { readonly lines: number; readonly bytes: number }, delimiter = ',') {
  const pieces = []
  for await (const piece of csvPieces(file, delimiter, bounds)) pieces.push(piece)
  return pieces
}

test('pieces end with a line, never inside quotes, and together are the file', async (context) => {
  const text = 'a,"1\n2"\nb"c,"say ""x"",\n"\nd,e\n\nlast'
  const file = await fileOf(context, text)
  const pieces = await piecesOf(file, { lines: 1, bytes: 1000 })
  assert.deepEqual(
    pieces.map((piece) => piece.text),
    ['a,"1\n2"\n', 'b"c,"say ""x"",\n"\n', 'd,e\n', '\n', 'last'],
  )
  assert.deepEqual(
    pieces.map(({ firstLine }) => firstLine),
    [1, 3, 5, 6, 7],
  )
  assert.deepEqual(
    pieces.map(({ from, to }) => text.slice(from, to)),
    pieces.map((piece) => piece.text),
  )
})

test('a piece is bounded by bytes too, and by nothing inside a line, across the reads of a large file', async (context) => {
  const line = `name,"${'é'.repeat(700)}"\n`
  const file = await fileOf(context, line.repeat(2_000))
  const pieces = await piecesOf(file, { lines: 1_000, bytes: 100_000 })
  assert.equal(pieces.map(({ text }) => text).join(''), line.repeat(2_000))
  assert.ok(pieces.length > 20)
  assert.ok(pieces.every(({ text }) => text.endsWith('"\n')))
})

test('refused lines stand in their file once, whoever was killed while it was written', async (context) => {
  const path = await fileOf(context, 'Line 2: a\nLine 7: b\nLine 9: cut o')
  const errors = await ErrorLines.open(path, true)
  await errors.add(['Line 7: b', 'Line 12: d', 'Line 9: c'])
  assert.equal(await readFile(path, 'utf8'), 'Line 2: a\nLine 7: b\nLine 9: c\nLine 12: d\n')
  await (await ErrorLines.open(path, false)).add(['Line 1: fresh'])
  assert.equal(await readFile(path, 'utf8'), 'Line 1: fresh\n')
})
