/// What operators do about whose phones get pushes, from the command line: the devices
/// and memberships of anybody.
package struct PushAdministration: Sendable {
    private let environment: ServiceEnvironment
    private let topics: ModelType
    /// Rows that are read at once.
    private static let pageSize = 500

    /// A service over the store of `environment`, for the topics of one schema.
    package init(environment: ServiceEnvironment, topics: ModelType) {
        self.environment = environment
        self.topics = topics
    }

    /// A device with its owner's name, where the owner has a local account.
    package struct OwnedDevice: Sendable, Hashable {
        /// The device, active or not.
        package var device: Device
        /// The owner's account name; nil for people of a sign-in provider.
        package var userName: String?
    }

    /// A member of a topic, with their name where they have a local account.
    package struct Member: Sendable, Hashable {
        /// The membership, muted or not.
        package var membership: Membership
        /// The member's account name; nil for people of a sign-in provider.
        package var userName: String?
    }

    /// Hands over the devices of a user, or of everybody, page by page.
    ///
    /// `user` is the name of a local account, or the id of anybody who has devices
    /// or is a member of a topic.
    package func eachDevice(of user: String?, _ body: ([OwnedDevice]) -> Void) async throws(ServiceError) {
        if let user {
            let id = try await userID(user)
            return body(try await read { reader throws(StoreError) in try Self.named(reader.devices(of: id), reader) })
        }
        var last: DeviceID?
        while true {
            let after = last
            let page = try await read { reader throws(StoreError) in
                try Self.named(reader.devices(after: after, limit: Self.pageSize), reader)
            }
            body(page)
            guard page.count == Self.pageSize else { return }
            last = page.last?.device.id
        }
    }

    /// Removes a device; its waiting pushes end.
    package func endDevice(_ id: DeviceID) async throws(ServiceError) -> OwnedDevice {
        let service = self
        return try await environment.store.writing { writer throws(StoreError) in
            guard let device = try Self.named(writer.devices(ids: [id]), writer).first else {
                return .failure(.badInput("There is no device \(id). `tocsin device list` shows all."))
            }
            try service.end(device.device, writer)
            return .success(device)
        }
    }

    /// Removes all devices of a user; their waiting pushes end.
    package func endDevices(of user: String) async throws(ServiceError) -> [OwnedDevice] {
        let (service, id) = (self, try await userID(user))
        return try await environment.store.writing { writer throws(StoreError) in
            let devices = try Self.named(writer.devices(of: id), writer)
            for device in devices { try service.end(device.device, writer) }
            return .success(devices)
        }
    }

    private func end(_ device: Device, _ writer: any StoreWriter) throws(StoreError) {
        try writer.endDeliveries(of: device.id, reason: .accessEnded, now: environment.time.now())
        try writer.removeDevice(device.id, reason: .accessEnded)
        try writer.record(environment.audit(endOf: device, by: .operator, reason: .accessEnded))
        try environment.raise(.unregistered(device, reason: .accessEnded), writer)
    }

    /// Hands over the members of a topic, page by page; `topic` is its id, or its
    /// name if no other has it.
    package func eachMember(of topic: String, _ body: ([Member]) -> Void) async throws(ServiceError) {
        let id = TopicID(try await self.topic(topic).id)
        var last: UserID?
        while true {
            let after = last
            let page = try await read { reader throws(StoreError) in
                let members = try reader.members(of: id, after: after, limit: Self.pageSize)
                let names = try Self.names(of: Set(members.map(\.userID)), reader)
                return members.map { Member(membership: $0, userName: names[$0.userID]) }
            }
            body(page)
            guard page.count == Self.pageSize else { return }
            last = page.last?.membership.userID
        }
    }

    /// Ends a membership; the pushes of the topic to this user that wait end.
    package func removeMember(_ user: String, from topic: String) async throws(ServiceError) -> Membership {
        let (found, userID) = (try await self.topic(topic), try await userID(user))
        let (id, time) = (TopicID(found.id), environment.time)
        return try await environment.store.writing { writer throws(StoreError) in
            guard let membership = try writer.membership(of: userID, in: id) else {
                return .failure(
                    .badInput("\(user) is no member of \(topic). `tocsin member list \(topic)` shows all.")
                )
            }
            try writer.endMembership(of: userID, in: id, now: time.now())
            // A grant to a group of theirs makes them no member again.
            try writer.setLeft(time.now(), userID, id)
            return .success(membership)
        }
    }

    /// The topic with this id, else the only one with this name.
    private func topic(_ text: String) async throws(ServiceError) -> Record {
        let topics = topics
        let found = try await read { reader throws(StoreError) in
            let named = try reader.records(topics, ids: [text], where: .always).filter { !$0.isDeleted }
            guard named.isEmpty, let id = topics.position(of: "id"), let name = topics.position(of: "name") else {
                return named
            }
            let query = ModelQuery(
                model: topics,
                predicate: .field(name, .equal(.text(text))),
                order: [ModelQuery.Order(field: id)],
                limit: Self.pageSize
            )
            return try reader.records(query).filter { !$0.isDeleted }
        }
        guard let first = found.first else { throw .badInput("There is no topic \(text).") }
        guard found.count == 1 else { throw .badInput("Several topics are named \(text); give an id.") }
        return first
    }

    /// The user with this name, else the one with this id.
    private func userID(_ text: String) async throws(ServiceError) -> UserID {
        let found = try await read { reader throws(StoreError) -> UserID? in
            if let account = try reader.account(named: text) { return account.id }
            let user = UserID(text)
            if try reader.account(user) != nil { return user }
            let ties = (try reader.devices(of: user).count, try reader.memberships(of: user).count)
            return ties == (0, 0) ? nil : user
        }
        guard let found else {
            throw .badInput("There is no user \(text). Give a local user's name (`tocsin user list`), or a user's id.")
        }
        return found
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (any StoreReader) throws(StoreError) -> Value
    ) async throws(ServiceError) -> Value {
        try await environment.store.reading(for: .server, body)
    }

    private static func named(_ devices: [Device], _ reader: any StoreReader) throws(StoreError) -> [OwnedDevice] {
        let names = try names(of: Set(devices.map(\.userID)), reader)
        return devices.map { OwnedDevice(device: $0, userName: names[$0.userID]) }
    }

    private static func names(
        of users: Set<UserID>,
        _ reader: any StoreReader
    ) throws(StoreError) -> [UserID: String] {
        try reader.standings(of: users, tokensAt: nil).compactMapValues { $0.account?.name }
    }
}
