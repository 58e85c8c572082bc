/** A connection that another takes the place of while it is used: it closes when the calls that are under way have their answers. */
export class SharedConnection<Connection extends { close(): Promise<void> }> {
  private readonly connection: Connection
  private underWay = 0
  private isLeft = false

  constructor(connection: Connection) {
    this.connection = connection
  }

  async use<Result>(call: (connection: Connection) => Promise<Result>): Promise<Result> {
    this.underWay++
    try {
      return await call(this.connection)
    } finally {
      this.underWay--
      if (this.isLeft && this.underWay === 0) await this.connection.close()
    }
  }

  async close(): Promise<void> {
    this.isLeft = true
    if (this.underWay === 0) await this.connection.close()
  }
}
