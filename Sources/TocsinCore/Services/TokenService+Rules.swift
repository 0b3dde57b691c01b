package import Encodings

// What may be asked of tokens, and by whom.
extension TokenService {
    /// Seconds for which a rotated token may go on, at most: 30 days.
    package static let longestOverlap: Int64 = 30 * 86_400
    /// Nodes are told of an end that comes within so many seconds, and end at once what listens by
    /// the token; of later ones they read in time.
    static let toldSeconds = 15.0
    /// Tokens that ended so many seconds ago are removed when others are made, all but this many.
    static let endedSeconds = 3600.0
    static let keptEnded = 200
    /// Rows of tokens that a user may have, those that ended with them.
    static let rowsPerUser = 1000
    /// Networks that one token may name.
    static let maximumNetworks = 16

    /// What somebody may do with the tokens of a user.
    enum Reach { case nothing, looking, all }

    /// Everybody manages their own tokens and those of service accounts that they look after,
    /// operators all.
    ///
    /// Admins look at everybody's and may take from them, but make none in the name of another
    /// person, for they would read what is that person's.
    func reach(of caller: Identity?, over user: UserID, _ account: Account?) -> Reach {
        guard let caller, caller.userID != user else { return .all }
        guard let account else { return .nothing }
        let isManager = caller.isAdmin || account.manager?.covers(caller) == true
        if account.kind == .service, isManager { return .all }
        return caller.isAdmin ? .looking : .nothing
    }

    /// Whether the caller may give these rights away: none that they do not have, but that admins
    /// give the figures of the server and the log of changes.
    func mayGive(_ scope: Identity.Scope, _ caller: Identity?) -> Bool {
        guard let caller else { return true }
        return caller.scope.covers(caller.isAdmin ? scope.subtracting([.metrics, .audit]) : scope)
    }

    /// Throws where a session must be elevated first: for tokens of all its rights or of pushes to
    /// everybody, and for those of somebody else.
    func requireElevation(
        of caller: Identity?,
        toGive scope: Identity.Scope,
        to user: UserID
    ) async throws(ServiceError) {
        guard scope.isFull || scope.rights.contains(.push) || caller?.userID != user else { return }
        try await environment.requireElevation(of: caller)
    }

    /// Whether what the caller came in with still lets them give access.
    ///
    /// Who was let in a moment ago may have lost it since.
    func isStillIn(_ caller: Identity?, _ now: Timestamp, _ writer: any StoreWriter) throws(StoreError) -> Bool {
        guard let id = caller?.tokenID else { return true }
        if let token = try writer.token(id) { return token.isGood(at: now) && token.scope.isFull }
        return try writer.session(id)?.isGood(at: now) ?? false
    }

    /// The row of a token from which the caller may take, held; the account comes before it.
    func held(
        _ id: TokenID,
        by caller: Identity?,
        _ now: Timestamp,
        _ writer: any StoreWriter
    ) throws(StoreError) -> Result<IssuedToken, ServiceError> {
        guard let seen = try writer.unlocked.token(id),
            reach(of: caller, over: seen.userID, try writer.account(seen.userID)) != .nothing
        else { return .failure(missing(id, caller)) }
        guard try isStillIn(caller, now, writer) else { return .failure(.unauthorized) }
        guard let row = try writer.token(id) else { return .failure(missing(id, caller)) }
        return .success(row)
    }

    /// The networks of a new token: those of its maker's token unless it is given some, and never
    /// more.
    func networks(_ wanted: [AddressNetwork], by caller: Identity?) throws(ServiceError) -> [AddressNetwork] {
        guard let own = caller?.networks, !own.isEmpty else { return wanted }
        guard !wanted.isEmpty else { return own }
        guard wanted.allSatisfy({ network in own.contains { $0.contains(network) } }) else {
            throw .badInput(
                "Your token's networks are \(own.map(\.description).joined(separator: " ")); give some inside them."
            )
        }
        return wanted
    }

    /// The user of an argument, by id or a local user's name; the caller where there is none.
    package func userID(_ text: String?, of caller: Identity) async throws(ServiceError) -> UserID {
        guard let text, text != caller.username else { return caller.userID }
        let account = try await environment.store.reading(for: caller.reads) { reader throws(StoreError) in
            try reader.account(named: text)
        }
        return account?.id ?? UserID(text)
    }

    /// Throws unless the caller's token may make and change tokens at all.
    func checkMaker(_ caller: Identity?) throws(ServiceError) {
        guard caller.map(AccessPolicy.mayGiveAccess) ?? true else { throw .unauthorized }
    }

    /// Throws unless a token may live so long.
    func checkLife(from start: Timestamp, to end: Timestamp) throws(ServiceError) {
        let seconds = Double(end.milliseconds - start.milliseconds) / 1000
        let longest = environment.limits.tokenSeconds
        guard seconds >= 1 else { throw .badInput("expiresAt must be in the future; it is \(end.iso8601).") }
        guard seconds <= longest else {
            throw .badInput("A token lives at most \(Int(longest / 86_400)) days here; expiresAt is \(end.iso8601).")
        }
    }

    /// A token's name, 1 to 64 printable characters.
    static func checked(name: String) throws(ServiceError) -> String {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
        guard isPrintable, (1...64).contains(name.count), name.utf8.count <= 256 else {
            throw .badInput("A token's name is 1 to 64 printable characters.")
        }
        return name
    }

    /// The scope of these words; throws what is wrong with them.
    package static func scope(of words: [String]) throws(ServiceError) -> Identity.Scope {
        guard words.count <= 2 * Identity.Scope.maximumTopics, let scope = Identity.Scope(words: words) else {
            throw .badInput(
                "scopes are one or more of full, read, read:<topicId>, publish:<topicId>, push, topics, metrics, audit and "
                    + "device, with at most \(Identity.Scope.maximumTopics) topics."
            )
        }
        return scope
    }

    /// The networks of these texts; throws what is wrong with them.
    package static func networks(of texts: [String]) throws(ServiceError) -> [AddressNetwork] {
        guard texts.count <= maximumNetworks else {
            throw .badInput("A token has at most \(maximumNetworks) networks; these are \(texts.count).")
        }
        var networks: [AddressNetwork] = []
        for text in texts {
            guard let network = AddressNetwork(text) else {
                throw .badInput(
                    "\"\(text.prefix(64))\" is no network. Write an address or a network, such as 10.0.0.0/8 or fd00::/8."
                )
            }
            if !networks.contains(network) { networks.append(network) }
        }
        return networks
    }

    /// What is answered where a token is absent, or somebody else's.
    func missing(_ id: TokenID, _ caller: Identity?) -> ServiceError {
        caller == nil ? .badInput("There is no token \(id). `tocsin token list` shows all.") : .unauthorized
    }

    /// A token in whose place the caller may put another one, and its account.
    func rotatable(_ id: TokenID, by caller: Identity?) async throws(ServiceError) -> (IssuedToken, Account) {
        let found = try await environment.store.reading(for: caller?.reads ?? .server) {
            reader throws(StoreError) -> (IssuedToken, Account?)? in
            guard let row = try reader.token(id) else { return nil }
            return (row, try reader.account(row.userID))
        }
        guard let (row, owner) = found, reach(of: caller, over: row.userID, owner) == .all else {
            throw missing(id, caller)
        }
        guard let account = owner else { throw Self.notLocal }
        return (row, account)
    }

    /// The local account of a user, if there is one.
    func account(_ id: UserID) async throws(ServiceError) -> Account? {
        try await environment.store.reading(for: .server) { reader throws(StoreError) in try reader.account(id) }
    }

    static let notLocal = ServiceError.badInput(
        "Tokens are made for local users. Yours come from your sign-in provider."
    )

    func text(of token: IssuedToken, for account: Account) throws(ServiceError) -> String {
        guard let texts = environment.tokenTexts else {
            throw .internal(
                "No tokens are made here: the data directory has no server key. Check --data-dir, or start the server once."
            )
        }
        do throws(KeyError) {
            return try texts.text(of: token, for: account)
        } catch {
            throw .badInput(error.description)
        }
    }

    /// Why the account may not have another token now; locks the account, and the caller's token.
    func refusal(
        of user: UserID,
        _ now: Timestamp,
        needsRoom: Bool,
        _ caller: Identity?,
        _ writer: any StoreWriter
    ) throws(StoreError) -> ServiceError? {
        guard let account = try writer.account(user) else { return Self.notLocal }
        guard reach(of: caller, over: user, account) == .all else { return .unauthorized }
        guard !account.isDisabled else { return .badInput("User \(account.name) is disabled.") }
        guard try isStillIn(caller, now, writer) else { return .unauthorized }
        let counts = try writer.tokenCounts(of: user, at: now)
        let most = environment.limits.tokensPerUser
        if needsRoom, counts.good >= most {
            return .limit("A user may have at most \(most) tokens that are good; revoke one first.")
        }
        guard counts.all < Self.rowsPerUser else {
            return .limit("\(Self.rowsPerUser) tokens of this user were made or ended lately. Try again in an hour.")
        }
        return nil
    }

    /// A topic of the scope that the caller may not see, or that is not there; nil for none.
    func unknownTopic(
        of scope: Identity.Scope,
        for caller: Identity?,
        _ writer: any StoreWriter
    ) throws(StoreError) -> String? {
        let named = Set(scope.readTopics + scope.publishTopics)
        guard let topics, !named.isEmpty else { return nil }
        let visible: Predicate
        switch caller.map({ AccessPolicy.decision(.get, on: topics, for: $0) }) {
        case .deny?: return named.min()
        case .allow(let predicate)?: visible = predicate
        // Operators may name every topic that is there.
        case nil: visible = .always
        }
        let known = named.filter(InputChecks.mayBeID).sorted()
        let found = try writer.records(topics, ids: known, where: visible).filter { !$0.isDeleted }
        return named.subtracting(found.map(\.id)).min()
    }
}
