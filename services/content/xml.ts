/** The reader of XML. Loaded with the first document: most servers never have one, and it takes memory. */
import type { X2jOptions } from 'fast-xml-parser'
import { errorText } from '../../model/errors.ts'

export type ReadXml = { readonly document: unknown } | { readonly refused: string }

/** Refuses what is no whole document. */
export async function readXml(text: string, options: X2jOptions): Promise<ReadXml> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser')
  // The parser takes half a document for a whole one.
  const validity = XMLValidator.validate(text)
  if (validity !== true) return { refused: validity.err.msg }
  try {
    return { document: new XMLParser(options).parse(text) }
  } catch (error) {
    return { refused: errorText(error) }
  }
}
