import GraphQL
import Testing

@Suite("TrustedDocuments")
struct TrustedDocumentsTests {
    @Test("a document is found by hash, by name and by its bytes")
    func found() throws {
        var documents = TrustedDocuments()
        let digest = try #require(DocumentDigest(hex: hexadecimal(1)))
        let isAdded = documents.add("{ a }", digest: digest, identifier: "one")
        #expect(isAdded)
        let document = DocumentText("{ a }")
        #expect(documents.document(digest) == document)
        #expect(documents.document(identifier: "one") == document)
        #expect(documents.contains(document))
        #expect(!documents.contains(DocumentText("{ a } ")))
        #expect(documents.document(identifier: "two") == nil)
    }

    @Test("a name stands for one document")
    func names() throws {
        var documents = TrustedDocuments()
        let digests = try [1, 2].map { try #require(DocumentDigest(hex: hexadecimal($0))) }
        let added = [("{ a }", digests[0]), ("{ a }", digests[0]), ("{ b }", digests[1])].map { text, digest in
            documents.add(text, digest: digest, identifier: "one")
        }
        #expect(added == [true, true, false])
        #expect(documents.count == 1)
    }

    @Test(
        "both kinds of manifest are read",
        arguments: [
            """
            {"format": "apollo-persisted-query-manifest", "version": 1,
             "operations": [{"id": "1", "body": "{ a }", "name": "A", "type": "query"}, {"id": "2", "body": "{ b }"}]}
            """, #"{"1": "{ a }", "2": "{ b }"}"#,
        ]
    )
    func manifests(text: String) throws {
        let entries = try DocumentManifest(json: Array(text.utf8)).entries
        #expect(entries.map(\.identifier) == ["1", "2"])
        #expect(entries.map(\.text) == ["{ a }", "{ b }"])
    }

    @Test(
        "what is wrong with a manifest is said",
        arguments: [
            ("{", "not JSON"), ("[]", "no JSON object"), (#"{"1": 2}"#, "no text"),
            (#"{"format": "apollo-persisted-query-manifest", "version": 2, "operations": []}"#, "version 2"),
            (#"{"format": "other", "version": 1, "operations": []}"#, "other"),
            (#"{"format": "apollo-persisted-query-manifest", "version": 1}"#, "no list"),
            (
                #"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "1"}]}"#,
                "operation 1 has no texts"
            ),
        ]
    )
    func faults(text: String, words: String) {
        let error = #expect(throws: DocumentManifestError.self) { try DocumentManifest(json: Array(text.utf8)) }
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    }
}
