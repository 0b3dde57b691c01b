import JSON
import TocsinServer

/// Files in memory.
enum TestFiles {
    static func make(
        _ contents: [String: String] = [:],
        open: Set<String> = [],
        isInContainer: Bool = false
    ) -> SettingsFiles {
        SettingsFiles(
            read: { (path) throws(SystemFile.Failure) in
                guard let text = contents[path] else { throw SystemFile.Failure(reason: "there is no such file") }
                return Array(text.utf8)
            },
            isOpenToOthers: { open.contains($0) },
            isInContainer: isInContainer,
            exists: { contents[$0] != nil }
        )
    }

    /// Keys made for these tests; nothing else knows them.
    static let p8 = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3KHPd1GwltHo4UtP
        ZJoyM1Hu5OcQfMjkmJ8y4MAtmiihRANCAAQkCaSwC6hzEYwmEHUDXOdSJNGOD2g8
        2hj3eUExa7PDj9CoKRBRjUV36YHu/xc9VkXEfa1vRjH0ku83RP7IfDag
        -----END PRIVATE KEY-----
        """

    static let serviceAccountKey = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCuGG8tHECyWdTr
        1uZTt8IMZXlpN+sKSZ0XhxxSPTw+vPtVqKIQiCtHsNBKBF74t0unbPplZzQtgLot
        M9tsHwXPid6Xia376+ja3yQnXKre8O7EAw6oJSgsJ6qZ9hT+CiywYCIn5C2Y/F8e
        im0PUc47fzNy+GChBkor8t/lc9REdX2EpFcGLD9ntAhTv4fauaV025og7mNl0TlJ
        P8r44oyVVTuygis7WyXI+fz5B2zdcIpjyfhPZS81MqjyYQ0XuhSIdQXaKOVLLbE4
        YdlLlQMuMtrBvT+beqyUg5/Hm9Uo35jZoX6jsarrc/XGvsRazGNfE3Xljv9QXOEh
        +7tcR2HZAgMBAAECggEAEVP3RNsqCVZtneeu1yhUFR3IftOE/mojS6M0C29y3p+6
        uGTndJPJEwKjSKq0tTaxPgHXzl3+UIUegr9FmLZhwq1rTVPz0D5D1/0bwRs1GqmK
        alIPlGbWX8a28UoP/tUOa6O14piQfUipQwXuIvc2eq+HdGsKWxygJ02uQU1NFF8f
        T5B8PEcyxInTv55fHZSIT8HsMwFnvoZXdumy09gIbTqUM/cl2WQskilzmqDn99/2
        OhUcnQpDKRZPaymuzoeZtbQBuBrCKkE1m2WpCpliwGqRBPHxxZ+vzPE0reQvcY5J
        wZ3UYzKumkqHEStyxgjMG1RJ7K0/eCgzLEw5rAGjgQKBgQDT+eIYbvzLAHsWRewh
        Y9frKGxbtty4L4qEPqlaI5MRjWzG9QL+l7iQzYrTtzoIr1x9CnhHBarVedx15DBl
        Wc5LNrJ2jRmGaPG0joYIsoAEuYO4Qm3wIQuthAF5K04UzwuvPUxQEdB8LQbmNA2d
        mtSFTyg3Y7T7oAXii26SOzcTCQKBgQDSQI2VpZxcHtR3FGAHN4OAwL/vTDfxdvMn
        RpaHiQWwHr+ztVHkXdrwubxn7eoEbdDwG+zr4D2AfixiA5b4WCQOLwnkV5kw7StQ
        HYtsHmIPEIQ42OjFvh1PLftROkXtppBRsbLcgYLsEP5zx38dghgzTIm/bkzrk3fK
        fUz+vBJ8UQKBgD8i7nTYmfLc8cxwhyRq2KTyJVQr4xH5FwjMoSR39BYGSZ/42it6
        hT6b+f2VVXPAx4t20txUk82Bvmhezwtg9FDyubUV0cR2/YcJ7GIqyHafytvW7WfY
        b+H+r3GntFn+UTygxVoT9EUIJEXsuyF2PFZ4fUICMKXBw/72CLkFaiIBAoGBAMv+
        OeDx1+1BNF9881bNM9feK9sflj+/a1e2EyLZfR1OGC1iRVxO+7gIXZZwrVcyvT/Z
        uFt7K/DZenJ2jSnTSthAJ1bW7xkbY6TNpZJ3QCjhm4gUXHRPatyB/o7m/SYBL5Ez
        2hg7yC0Gp/rpmpmkuZo8LoH/oL4ITHe4btXQ4BahAoGBAKiFABqGTmwXB6kada8y
        5Ke//Gk7DlP/Y4nQvSIvQ8C5RrQiTjZFvnmlVSDQAups2MjTYYnChBIvNTUeBfEH
        GDVR8HCpb8sfbH8xlMUcukhGWv17Po2DnUUpQpx0O6nlNeXOfYVr4IBCRRTrCDrW
        rTLo8dlKKad5YdaDhDDydQhJ
        -----END PRIVATE KEY-----
        """

    /// A service account's key file with some members changed.
    static func serviceAccount(_ changes: [(String, JSONValue?)] = []) -> String {
        var members: JSONObject = [
            "type": "service_account", "project_id": "demo", "private_key_id": "k1",
            "private_key": .string(serviceAccountKey), "client_email": "robot@demo.example",
            "token_uri": "https://oauth2.googleapis.com/token",
        ]
        for (name, value) in changes { members[name] = value }
        return JSONValue.object(members).serializedString()
    }
}

/// One reading; what is not given is empty.
func read(
    flags: [String: String] = [:],
    _ environment: [String: String] = [:],
    files: SettingsFiles = TestFiles.make()
) throws(SettingsProblems) -> SettingsReading {
    try SettingsReader.read(flags: flags, environment: environment, files: files)
}

/// The problems of a reading; empty when there are none.
func problems(
    flags: [String: String] = [:],
    _ environment: [String: String] = [:],
    files: SettingsFiles = TestFiles.make()
) -> [String] {
    do throws(SettingsProblems) {
        _ = try read(flags: flags, environment, files: files)
        return []
    } catch {
        return error.problems
    }
}
