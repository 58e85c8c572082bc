import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contentOf, ollamaMessage, type AiFile } from './file-parts.ts'

const file = (name: string, mediaType: string): AiFile => ({ name, mediaType, bytes: Buffer.from(name) })
const png = file('a.png', 'image/png')
const pdf = file('Manual, v2.pdf', 'application/pdf')
const csv = file('limits.csv', 'text/csv')
const json = file('site.json', 'application/json')
const [png64, pdf64] = [png, pdf].map(({ bytes }) => bytes.toString('base64'))
const asked = { user: 'Q', files: [csv, json, png, pdf] }

test('the question comes first, texts as text, images and PDF in the words of the provider', () => {
  const texts = [
    { type: 'text', text: 'Q' },
    { type: 'text', text: 'limits.csv' },
    { type: 'text', text: 'site.json' },
  ]
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png64}` } }
  const url = `data:application/pdf;base64,${pdf64}`
  const named = { filename: 'Manual, v2.pdf', file_data: url }
  assert.deepEqual(contentOf(asked, 'OPENAI'), [...texts, image, { type: 'file', file: named }])
  assert.deepEqual(contentOf(asked, 'MISTRAL_AI'), [...texts, image, { type: 'document_url', document_url: url }])
  const source = { type: 'base64', media_type: 'application/pdf', data: pdf64 }
  assert.deepEqual(contentOf(asked, 'ANTHROPIC'), [
    ...texts,
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png64 } },
    { type: 'document', source },
  ])
  const plain = texts.map(({ text }) => ({ text }))
  assert.deepEqual(contentOf(asked, 'GOOGLE_AI_GEMINI'), [
    ...plain,
    { inlineData: { mimeType: 'image/png', data: png64 } },
    { inlineData: { mimeType: 'application/pdf', data: pdf64 } },
  ])
  assert.deepEqual(contentOf(asked, 'AMAZON_BEDROCK'), [
    ...plain,
    { image: { format: 'png', source: { bytes: png64 } } },
    { document: { format: 'pdf', name: 'Manual v2 pdf', source: { bytes: pdf64 } } },
  ])
})

test('Ollama has texts in one and images beside it', () => {
  const content = 'Q\n\nlimits.csv\n\nsite.json'
  assert.deepEqual(ollamaMessage({ user: 'Q', files: [csv, png, json] }), { role: 'user', content, images: [png64] })
  assert.deepEqual(ollamaMessage({ user: 'Q' }), { role: 'user', content: 'Q' })
})

test('what a provider takes no files of is refused by its name', () => {
  for (const provider of ['AZURE_OPENAI', 'GITHUB_MODELS'] as const)
    assert.throws(() => contentOf({ user: 'Q', files: [pdf] }, provider), /no application\/pdf: 'Manual, v2\.pdf'/)
  assert.throws(() => ollamaMessage({ user: 'Q', files: [pdf] }), { code: 'ai.FILE_TYPE' })
  const drawing = file('a.svg', 'image/svg+xml')
  assert.throws(() => contentOf({ user: 'Q', files: [drawing] }, 'AMAZON_BEDROCK'), { code: 'ai.FILE_TYPE' })
})
