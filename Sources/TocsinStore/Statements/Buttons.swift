import TocsinCore

private enum SQL {
    static let columns = "message_id, button_id, user_id, pressed_at, status, problem"
    static let one = """
        SELECT \(columns) FROM button_presses WHERE message_id = $1 AND button_id = $2 AND user_id = $3
        """
    static func several(_ messages: String, _ buttons: String, user: Int) -> String {
        """
        SELECT \(columns) FROM button_presses
        WHERE message_id IN (\(messages)) AND button_id IN (\(buttons)) AND user_id = $\(user)
        """
    }
    static let insert = "INSERT INTO button_presses (\(columns)) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING"
    static let save = """
        UPDATE button_presses SET pressed_at = $4, status = $5, problem = $6
        WHERE message_id = $1 AND button_id = $2 AND user_id = $3
        """
    static let remove = """
        DELETE FROM button_presses WHERE (message_id, button_id, user_id) IN (
            SELECT message_id, button_id, user_id FROM button_presses WHERE pressed_at < $1 ORDER BY pressed_at LIMIT $2)
        """
}

extension SQLReading {
    func buttonPress(_ button: String, of message: MessageID, by user: UserID) throws(StoreError) -> ButtonPress? {
        let key: [SQLValue] = [.text(message.text), .text(button), .text(user.text)]
        return try connection.first(SQL.one + lock("button_presses"), key, ButtonPress.init)
    }

    func buttonPresses(
        named buttons: [String],
        of messages: [MessageID],
        by user: UserID
    ) throws(StoreError) -> [ButtonPress] {
        var presses: [ButtonPress] = []
        for messages in messages.map(\.text).chunks(of: BoundList.maximumCount) {
            for buttons in buttons.chunks(of: BoundList.maximumCount) {
                let ids = BoundList(messages)
                let names = BoundList(buttons, firstParameter: ids.bindings.count + 1)
                let bindings = ids.bindings + names.bindings + [.text(user.text)]
                let sql = SQL.several(ids.placeholders, names.placeholders, user: bindings.count)
                presses += try connection.all(sql + lock("button_presses"), bindings, ButtonPress.init)
            }
        }
        return presses
    }
}

extension SQLWriter {
    func insert(_ press: ButtonPress) throws(StoreError) -> Bool {
        try connection.run(SQL.insert, press.values) > 0
    }

    func save(_ press: ButtonPress) throws(StoreError) {
        try connection.run(SQL.save, press.values)
    }

    func removeButtonPresses(before moment: Timestamp, limit: Int) throws(StoreError) -> Int {
        try connection.run(SQL.remove, [SQLValue(moment), .int(Int64(limit))])
    }
}

extension ButtonPress {
    /// Reads the columns of a selection.
    fileprivate init(_ row: any SQLRow) {
        self.init(row.text(1), of: MessageID(row.text(0)), by: UserID(row.text(2)), at: row.moment(3))
        if !row.isNull(4) { outcome = .answered(Int(row.int(4))) }
        if let problem = row.optionalText(5) { outcome = .failed(problem) }
    }

    /// In the order of the columns.
    fileprivate var values: [SQLValue] {
        var (status, problem): (SQLValue, SQLValue) = (.null, .null)
        switch outcome {
        case .answered(let code)?: status = .int(Int64(code))
        case .failed(let words)?: problem = .text(words)
        case nil: break
        }
        return [.text(messageID.text), .text(buttonID), .text(userID.text), SQLValue(at), status, problem]
    }
}
