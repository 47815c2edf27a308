// The page's files by their addresses.
#include "gateway/server/page.h"

#include <gtest/gtest.h>

#include <array>

namespace tarcil::gateway::page_test {

constexpr std::array<PageFile, 4> kFiles = {{{"index.html", "<html>"},
                                             {"assets/app-Da3x9Ka1.js", "code"},
                                             {"assets/app.css", "style"},
                                             {"favicon.svg", "<svg>"}}};

TEST(Page, HasItsFiles) {
  const Page page(kFiles);
  ASSERT_NE(page.find("/assets/app-Da3x9Ka1.js"), nullptr);
  EXPECT_EQ(page.find("/assets/app-Da3x9Ka1.js")->content, "code");
  EXPECT_EQ(page.find("/assets/app-Da3x9Ka1.js")->type, "text/javascript; charset=utf-8");
  EXPECT_EQ(page.find("/favicon.svg")->type, "image/svg+xml");
  EXPECT_NE(page.find("/assets/app.css")->digest, page.find("/favicon.svg")->digest);
}

TEST(Page, IsIndexHtmlForItsOwnLinks) {
  const Page page(kFiles);
  for (const char* path : {"/", "/jobs/4711", "/servers/a%2f..", "/../etc/passwd"}) {
    ASSERT_NE(page.find(path), nullptr) << path;
    EXPECT_EQ(page.find(path)->content, "<html>") << path;
  }
  EXPECT_EQ(page.find("/assets/missing.js"), nullptr);
  EXPECT_EQ(page.find("/assets/../index.html"), nullptr);
}

TEST(Page, SaysWhichFilesNeverChange) {
  const Page page(kFiles);
  EXPECT_TRUE(page.find("/assets/app-Da3x9Ka1.js")->isForGood);
  for (const char* path : {"/", "/assets/app.css", "/favicon.svg"})
    EXPECT_FALSE(page.find(path)->isForGood) << path;
}

TEST(Page, ThatCameWithTheProgramHasAnIndex) {
  EXPECT_NE(Page(pageFiles()).find("/"), nullptr);
}

}  // namespace tarcil::gateway::page_test
