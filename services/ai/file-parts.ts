/** A question and its files in the forms of the providers: the question first; files of text as text, as in the reference. */
import type { AiConfiguration } from './configuration.ts'
import { AiErrors } from './errors.ts'

type Provider = AiConfiguration['provider']

export interface AiFile {
  readonly name: string
  /** As of the upload, such as `image/png`. */
  readonly mediaType: string
  readonly bytes: Buffer
}

interface Asked {
  readonly user: string
  readonly files?: readonly AiFile[]
}

interface Encoded {
  readonly name: string
  readonly mediaType: string
  readonly base64: string
}

interface Form {
  readonly text: (text: string) => object
  readonly image: (file: Encoded) => object | undefined
  /** Absent where the provider takes none. */
  readonly pdf?: (file: Encoded) => object
}

const PDF = 'application/pdf'
const dataUrl = ({ mediaType, base64 }: Encoded): string => `data:${mediaType};base64,${base64}`

const openAi: Form = {
  text: (text) => ({ type: 'text', text }),
  image: (file) => ({ type: 'image_url', image_url: { url: dataUrl(file) } }),
}

const gemini: Form = {
  text: (text) => ({ text }),
  image: ({ mediaType, base64 }) => ({ inlineData: { mimeType: mediaType, data: base64 } }),
  pdf: ({ mediaType, base64 }) => ({ inlineData: { mimeType: mediaType, data: base64 } }),
}

const sourceOf = ({ mediaType, base64 }: Encoded) => ({ type: 'base64', media_type: mediaType, data: base64 })
/** What Converse has a word for. */
const BEDROCK_IMAGES: ReadonlySet<string> = new Set(['png', 'jpeg', 'gif', 'webp'])

const FORMS: Readonly<Record<Exclude<Provider, 'OLLAMA'>, Form>> = {
  OPENAI: {
    ...openAi,
    pdf: (file) => ({ type: 'file', file: { filename: file.name, file_data: dataUrl(file) } }),
  },
  AZURE_OPENAI: openAi,
  GITHUB_MODELS: openAi,
  MISTRAL_AI: { ...openAi, pdf: (file) => ({ type: 'document_url', document_url: dataUrl(file) }) },
  ANTHROPIC: {
    text: openAi.text,
    image: (file) => ({ type: 'image', source: sourceOf(file) }),
    pdf: (file) => ({ type: 'document', source: sourceOf(file) }),
  },
  GOOGLE_AI_GEMINI: gemini,
  GOOGLE_VERTEX_AI_GEMINI: gemini,
  AMAZON_BEDROCK: {
    text: (text) => ({ text }),
    image: ({ mediaType, base64 }) => {
      const format = mediaType.slice('image/'.length)
      return BEDROCK_IMAGES.has(format) ? { image: { format, source: { bytes: base64 } } } : undefined
    },
    pdf: ({ name, base64 }) => ({ document: { format: 'pdf', name: bedrockName(name), source: { bytes: base64 } } }),
  },
}

/** Letters, digits, single blanks, hyphens and brackets are all that it takes. */
function bedrockName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9()[\]-]+/g, ' ').trim()
  return plain === '' ? 'file' : plain.slice(0, 200)
}

/** The text alone where there are no files and the provider takes it so. Throws `FILE_TYPE`. */
export function contentOf({ user, files = [] }: Asked, provider: Exclude<Provider, 'OLLAMA'>): string | object[] {
  const form = FORMS[provider]
  const isPlain = form.text === openAi.text
  if (files.length === 0 && isPlain) return user
  return [form.text(user), ...files.map((file) => partOf(file, form, provider))]
}

/** It has one text and a list of images. Throws `FILE_TYPE`. */
export function ollamaMessage({ user, files = [] }: Asked): object {
  const images = files.filter(isImage).map(({ bytes }) => bytes.toString('base64'))
  const texts = files.filter((file) => !isImage(file))
  for (const { mediaType, name } of texts)
    if (mediaType === PDF) throw AiErrors.FILE_TYPE({ provider: 'OLLAMA', mediaType, name })
  const content = [user, ...texts.map(({ bytes }) => bytes.toString('utf8'))].join('\n\n')
  return { role: 'user', content, ...(images.length === 0 ? {} : { images }) }
}

function partOf(file: AiFile, form: Form, provider: Provider): object {
  const { name, mediaType, bytes } = file
  if (mediaType !== PDF && !isImage(file)) return form.text(bytes.toString('utf8'))
  const encoded = { name, mediaType, base64: bytes.toString('base64') }
  const part = mediaType === PDF ? form.pdf?.(encoded) : form.image(encoded)
  if (part === undefined) throw AiErrors.FILE_TYPE({ provider, mediaType, name })
  return part
}

function isImage({ mediaType }: AiFile): boolean {
  return mediaType.startsWith('image/')
}
