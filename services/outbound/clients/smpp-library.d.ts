/** What we use of the library `smpp`, which has no types. */
declare module 'smpp' {
  import type { EventEmitter } from 'node:events'
  import type { LookupFunction, Server as NetServer, Socket } from 'node:net'

  export interface Pdu {
    readonly command: string
    /** 0 where all went well. */
    readonly command_status: number
    readonly [member: string]: unknown
    /** The answer to it. */
    response(members?: Readonly<Record<string, unknown>>): Pdu
  }

  type Send = (members: Readonly<Record<string, unknown>>, answered: (answer: Pdu) => void) => boolean

  /** Events: `connect`, `close`, `error`, and `pdu` with each that came. */
  export interface Session extends EventEmitter {
    readonly socket: Socket
    /** False where the connection takes nothing more. */
    send(pdu: Pdu): boolean
    bind_transmitter: Send
    bind_receiver: Send
    bind_transceiver: Send
    submit_sm: Send
    unbind: (answered: (answer: Pdu) => void) => boolean
    close(): void
    destroy(): void
  }

  interface Encoding {
    match(text: string): boolean
    encode(text: string): Buffer
  }

  const library: {
    connect(options: {
      readonly host: string
      readonly port: number
      readonly lookup?: LookupFunction
      readonly keepAlive?: boolean
    }): Session
    createServer(listener: (session: Session) => void): NetServer
    /** The alphabet of GSM 03.38, an octet a character. */
    readonly encodings: { readonly ASCII: Encoding }
    /** Codes of `command_status` by name. */
    readonly errors: Readonly<Record<string, number>>
  }
  export default library
}
