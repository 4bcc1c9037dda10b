"""The text of documents: PDF, Word, OpenDocument, sheets, slides, books, web pages."""
