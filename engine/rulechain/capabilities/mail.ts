/** Mail by the server that the platform's administrator set. */
export interface NodeMailMessage {
  readonly from?: string
  /** Addresses, separated by commas. */
  readonly to: string
  readonly cc?: string
  readonly bcc?: string
  readonly subject: string
  readonly body: string
  readonly isHtml: boolean
  /** Data URLs by content id. */
  readonly images?: Readonly<Record<string, string>>
}

export interface NodeMail {
  /** Resolves when the server took it. */
  send(mail: NodeMailMessage): Promise<void>
}
