/** A text in both languages. */
export interface Bilingual {
  en: string;
  zh: string;
}

/** A kind of product: what it is, what it does for its users, and what sets it apart. */
export interface ProductKind {
  /** Such as "meal planner". */
  noun: Bilingual;
  /** Such as "plan meals around health goals". */
  does: Bilingual;
  /** Such as "shopping list included". */
  benefit: Bilingual;
  /** The users of such products. */
  audiences: readonly Bilingual[];
  features: readonly Bilingual[];
}

/** A sector of the market, with the texts from which its products and keywords are made. */
export interface Sector {
  slug: string;
  name: Bilingual;
  /** The second parts of product names. Each belongs to one sector only. */
  endings: readonly string[];
  /** Common searches for its products. */
  terms: readonly Bilingual[];
  kinds: readonly ProductKind[];
}

/** Splits a text in the form `en|zh`. */
export function pair(text: string): Bilingual {
  const [en = "", zh = ""] = text.trim().split("|");
  return { en, zh };
}

/** Splits several pairs, which are separated by semicolons. */
export const pairs = (text: string): Bilingual[] => text.split(";").map(pair);

/**
 * A block for each sector. Its first line is the sector's slug, name and endings, its second line the common searches. Each further
 * line is a kind of product: noun; what it does; its benefit / audiences / features.
 */
const TABLE = `
video-generation / Video Generation|视频生成 / reel frame motion clip scene cut film shot take dolly
  ai video generator|ai视频生成; text to video|文字转视频; image to video|图片转视频; video avatar|数字人视频; ai video editor|ai视频剪辑; talking photo|照片说话
  script-to-video tool|脚本成片工具; turn scripts into finished videos|把脚本变成成片; no camera needed|无需拍摄 / creators|内容创作者; social media teams|社媒团队; ad agencies|广告公司 / storyboards|分镜脚本; scene extension|场景延长; 4K export|4K导出
  talking-avatar studio|数字人视频工具; present any text with a digital speaker|让数字人播报文稿; without a studio|无需演播室 / training teams|培训团队; online teachers|网课教师; newsrooms|编辑部 / lip sync|口型同步; custom avatars|自定义形象; slide import|幻灯片导入
  photo animator|图片动画工具; bring still pictures to life|让静态图片动起来; with a single prompt|一句提示即可 / photographers|摄影师; game studios|游戏工作室; museums|博物馆 / camera moves by text|文字运镜; character consistency|角色一致性; loop export|循环导出
  clip editor|短视频剪辑工具; cut long recordings into short clips|把长视频剪成短片; captions included|自动配字幕 / podcasters|播客作者; streamers|主播; event organisers|活动主办方 / automatic captions|自动字幕; silence removal|静音剪除; vertical reframing|横屏转竖屏
  product video maker|商品视频工具; turn product photos into video ads|把商品图变成视频广告; ready in minutes|几分钟完成 / online shops|电商卖家; ad agencies|广告公司; brand teams|品牌团队 / ad templates|广告模板; brand colours|品牌配色; batch rendering|批量渲染

voice-and-speech / Voice & Speech|语音合成 / voice tone speak larynx echo cast vox whisper hum sonnet
  text to speech|文字转语音; voice cloning|声音克隆; ai voice generator|ai配音; speech to text|语音转文字; voice changer|变声器; ai dubbing|ai译制配音
  voice cloning studio|声音克隆工具; clone a voice from one minute of audio|用一分钟录音克隆声音; with the speaker's consent|须经本人授权 / podcasters|播客作者; audiobook publishers|有声书出版方; game studios|游戏工作室 / emotion control|情感控制; pronunciation dictionaries|发音词典; consent records|授权记录
  text-to-speech engine|文字转语音引擎; turn long texts into natural speech|把长文变成自然语音; ready to publish|可直接发布 / newsrooms|编辑部; audiobook publishers|有声书出版方; app developers|应用开发者 / streaming speech|流式语音; chapter markers|章节标记; pronunciation dictionaries|发音词典
  dubbing tool|译制配音工具; dub videos in 40 languages|用40种语言为视频配音; in the original voice|保留原声音色 / video creators|视频创作者; film distributors|影视发行方; online teachers|网课教师 / voice matching|音色匹配; subtitle import|字幕导入; background music separation|背景音乐分离
  transcription tool|语音转写工具; turn recordings into accurate transcripts|把录音转成准确文稿; timestamps included|自带时间戳 / journalists|记者; researchers|研究人员; podcasters|播客作者 / speaker labels|说话人标注; noise removal|降噪; custom vocabularies|自定义词表
  voice changer|变声器; speak in any voice, live|实时切换任意声线; with hardly any delay|几乎没有延迟 / streamers|主播; gamers|游戏玩家; voice actors|配音演员 / voice presets|音色预设; noise removal|降噪; hotkey switching|快捷键切换

coding-assistants / Coding Assistants|编程助手 / code forge commit stack lint merge branch kernel patch byte
  ai coding assistant|ai编程助手; code review ai|ai代码审查; ai code generator|ai代码生成; unit test generator|单元测试生成; sql generator|sql生成器; vibe coding|氛围编程
  coding assistant|编程助手; make changes across a whole repository|修改整个代码仓库; tests included|自带测试 / software teams|研发团队; solo developers|独立开发者; startups|创业团队 / repository-wide edits|全仓库修改; a terminal agent|终端智能体; refactoring plans|重构计划
  code reviewer|代码审查工具; catch bugs before they are merged|在合并前发现缺陷; on every pull request|每个合并请求都检查 / open-source maintainers|开源维护者; software teams|研发团队; security teams|安全团队 / review comments|审查意见; security checks|安全检查; team rules|团队规范
  test generator|测试生成工具; write unit tests for existing code|为现有代码编写单元测试; edge cases included|覆盖边界情况 / test engineers|测试工程师; software teams|研发团队; medical device makers|医疗器械厂商 / coverage reports|覆盖率报告; mutation checks|变异测试; mock generation|模拟对象生成
  SQL assistant|SQL助手; turn questions into database queries|把问题变成数据库查询; checked before they run|执行前先检查 / backend developers|后端开发者; data engineers|数据工程师; analysts|分析师 / schema import|表结构导入; query explanations|查询解释; slow-query hints|慢查询提示
  app builder|应用生成工具; turn a description into a working app|把描述变成可用的应用; no framework to learn|无需学习框架 / founders|创业者; product managers|产品经理; agencies|代理商 / live preview|实时预览; one-click deployment|一键部署; database setup|数据库配置

writing / Writing|写作 / quill ink draft prose page script verse margin stanza nib
  ai writer|ai写作; paraphrasing tool|改写工具; grammar checker|语法检查; essay writer|作文生成; ai humanizer|ai降重; summary generator|摘要生成
  writing assistant|写作助手; turn rough notes into finished articles|把零散笔记写成文章; in a chosen tone|语气可选 / bloggers|博客作者; content teams|内容团队; newsletter writers|通讯作者 / tone presets|语气预设; outline mode|大纲模式; long-document memory|长文记忆
  grammar checker|语法检查工具; find mistakes and understand them|找出错误并明白原因; while typing|边写边改 / students|学生; non-native writers|非母语写作者; editors|编辑 / style suggestions|文风建议; error statistics|错误统计; personal dictionaries|个人词典
  paraphrasing tool|改写工具; reword texts without losing the meaning|改写文字而不改原意; at any length|长短可调 / researchers|研究人员; students|学生; content teams|内容团队 / citation checks|引文核对; plagiarism reports|查重报告; length control|篇幅控制
  story studio|故事创作工具; plan and draft long stories|构思并写出长篇故事; with every plot line in view|情节线一目了然 / novelists|小说作者; screenwriters|编剧; game studios|游戏工作室 / character sheets|人物卡; plot timelines|情节时间线; chapter summaries|章节摘要
  summary tool|摘要工具; boil long texts down to the key points|提炼长文要点; with page references|标注页码 / managers|管理者; newsrooms|编辑部; students|学生 / PDF import|PDF导入; bullet summaries|要点列表; audio summaries|语音摘要

image-generation / Image Generation|图像生成 / pixel canvas palette sketch hue lens mosaic pigment easel tint
  ai image generator|ai绘画; background remover|抠图; photo enhancer|图片变清晰; ai headshot|ai证件照; logo generator|logo生成; image upscaler|图片放大
  picture generator|图像生成工具; turn descriptions into pictures|用文字描述生成图片; in a consistent style|风格统一 / illustrators|插画师; designers|设计师; game studios|游戏工作室 / style references|风格参考; inpainting|局部重绘; layered files|分层文件
  product photo studio|商品图工具; place products in any scene|为商品换上任意场景; no photo shoot needed|无需实拍 / online shops|电商卖家; brand teams|品牌团队; marketplace sellers|平台卖家 / background removal|抠图; batch generation|批量生成; shadow control|光影调整
  photo enhancer|照片增强工具; sharpen and restore old photos|修复老照片并提升清晰度; with natural detail|细节自然 / photographers|摄影师; archives|档案馆; family historians|家谱爱好者 / upscaling|无损放大; colour restoration|色彩还原; scratch removal|划痕修复
  headshot generator|职业照生成工具; turn selfies into professional portraits|把自拍变成职业照; no photographer needed|无需摄影师 / job seekers|求职者; remote teams|远程团队; estate agents|房产经纪人 / outfit changes|换装; background choices|背景选择; matching team portraits|团队统一风格
  logo maker|标志设计工具; design logos and icons|设计标志与图标; ready for print|可直接印刷 / small businesses|小企业; founders|创业者; app developers|应用开发者 / vector export|矢量导出; transparent backgrounds|透明背景; colour palettes|配色方案

music / Music|音乐 / chord beat tune lyre opus refrain tempo lilt octave ballad
  ai music generator|ai作曲; ai song maker|ai写歌; vocal remover|人声分离; lyrics generator|歌词生成; beat maker|节拍制作; royalty free music|免版权音乐
  song generator|歌曲生成工具; turn lyrics into finished songs|把歌词变成完整歌曲; vocals included|自带人声 / songwriters|词曲作者; hobby musicians|音乐爱好者; music teachers|音乐教师 / song branching|歌曲分支续写; a lyrics editor|歌词编辑器; stem export|分轨导出
  soundtrack generator|配乐生成工具; score videos and games|为视频和游戏配乐; free of licence fees|免版税 / video creators|视频创作者; game studios|游戏工作室; podcasters|播客作者 / mood control|情绪控制; length matching|时长匹配; a loop library|循环乐段库
  vocal remover|人声分离工具; split songs into vocals and instruments|分离人声与伴奏; in studio quality|录音室音质 / cover singers|翻唱歌手; music teachers|音乐教师; karaoke bars|卡拉OK店 / stem export|分轨导出; key detection|调性识别; pitch shifting|变调
  mastering tool|母带处理工具; master tracks for every platform|为各平台制作母带; loudness matched|响度统一 / bands|乐队; music producers|音乐制作人; podcasters|播客作者 / reference tracks|参考曲目; loudness targets|响度目标; before-and-after comparison|前后对比
  beat maker|节拍制作工具; turn a hummed idea into a beat|把哼唱变成节拍; no music theory needed|无需乐理 / rappers|说唱歌手; music producers|音乐制作人; hobby musicians|音乐爱好者 / drum kits|鼓组音色; MIDI export|MIDI导出; tempo detection|速度识别

chatbots / Chat Assistants|聊天助手 / chat mate talk parley banter wit muse pal oracle chime
  ai chat|ai聊天; ai assistant|ai助手; chat with pdf|pdf对话; ai companion|ai陪伴; character chat|角色聊天; ask ai|问ai
  personal assistant|个人助理; plan the day and answer everyday questions|安排日程、解答日常问题; all in one chat|一个对话搞定 / busy people|忙碌人士; families|家庭用户; freelancers|自由职业者 / memory across chats|跨对话记忆; voice mode|语音模式; reminders|提醒
  document chat tool|文档问答工具; ask questions about long documents|就长文档提问; with page numbers in the answers|回答标注页码 / students|学生; researchers|研究人员; consultants|咨询顾问 / file uploads|文件上传; PDF highlights|PDF高亮; multi-file chats|多文件对话
  companion app|陪伴应用; talk through the day|倾诉一天的心情; with a patient listener|有人耐心倾听 / people living alone|独居者; night owls|夜猫子; shift workers|倒班族 / voice calls|语音通话; a mood diary|心情日记; memory across chats|跨对话记忆
  character chat app|角色聊天应用; invent characters and chat with them|创造角色并与之对话; with open-ended stories|剧情自由发展 / fiction fans|小说爱好者; role players|角色扮演爱好者; game writers|游戏编剧 / custom personas|自定义角色; group chats|群聊; story branches|剧情分支
  team assistant|团队助手; get answers from company documents|从公司文档中获得答案; right in the team chat|就在团队聊天中 / remote teams|远程团队; HR departments|人力资源部门; IT departments|IT部门 / file connectors|文件连接器; web search|联网搜索; answers with sources|带出处的回答

design / Design|设计 / grid layout shape form vector bezel kerning serif studio bevel
  ai website builder|ai建站; ui design ai|ai界面设计; ai presentation maker|ai生成ppt; poster maker|海报制作; interior design ai|ai室内设计; mockup generator|样机生成
  website builder|建站工具; turn an outline into a website|把大纲变成网站; no code needed|无需代码 / small businesses|小企业; freelancers|自由职业者; restaurants|餐厅 / responsive preview|响应式预览; contact forms|联系表单; SEO settings|SEO设置
  interface design tool|界面设计工具; turn sketches into clickable screens|把草图变成可点击的界面; ready for developers|可直接交付开发 / product teams|产品团队; startups|创业团队; freelance designers|自由设计师 / component export|组件导出; design tokens|设计变量; comments|批注
  presentation maker|幻灯片制作工具; turn outlines into slides|把大纲变成幻灯片; in the brand's own look|符合品牌规范 / consultants|咨询顾问; teachers|教师; sales teams|销售团队 / speaker notes|演讲备注; chart slides|图表页; brand kits|品牌套件
  poster maker|海报制作工具; lay out posters and social media posts|制作海报和社媒配图; in every size|尺寸齐全 / small shops|小店店主; event organisers|活动主办方; social media teams|社媒团队 / photo cut-outs|抠图; one-click resizing|一键改尺寸; print export|印刷导出
  interior planner|家居设计工具; restyle rooms from a single photo|用一张照片重新设计房间; with furniture to scale|家具按真实比例 / home owners|业主; estate agents|房产经纪人; interior designers|室内设计师 / style presets|风格预设; floor plans|平面图; furniture lists|家具清单

marketing / Marketing|营销 / reach bloom funnel buzz pitch lift beacon brand signal crest
  ai seo tool|ai seo工具; ad copy generator|广告文案生成; social media scheduler|社交媒体排期; email generator|邮件生成; product description generator|商品描述生成; keyword research tool|关键词工具
  ad copy generator|广告文案工具; write and test ad copy|撰写并测试广告文案; for every channel|覆盖各个渠道 / small marketing teams|小型营销团队; agencies|代理商; online shops|电商卖家 / A/B copy tests|文案A/B测试; ad previews|广告预览; brand voice|品牌语调
  keyword research tool|关键词研究工具; find keywords and close content gaps|挖掘关键词、补齐内容缺口; with search volumes|附搜索量 / content teams|内容团队; agencies|代理商; software companies|软件公司 / competitor alerts|竞品提醒; content briefs|内容简报; rank tracking|排名跟踪
  social media planner|社媒排期工具; plan and schedule posts|策划并定时发布内容; weeks ahead|提前数周排好 / social media teams|社媒团队; creators|内容创作者; local shops|本地商家 / a campaign calendar|活动日历; hashtag suggestions|话题推荐; best posting times|最佳发布时间
  newsletter tool|邮件营销工具; write newsletters that get opened|写出有人点开的邮件; in the brand's own voice|保持品牌语调 / founders|创业者; online shops|电商卖家; nonprofits|公益组织 / subject line tests|标题测试; send-time hints|发送时间建议; audience segments|受众分组
  product text generator|商品文案工具; write product descriptions in bulk|批量撰写商品描述; straight from the catalogue|直接读取商品目录 / online shops|电商卖家; marketplace sellers|平台卖家; wholesalers|批发商 / attribute import|属性导入; translation into 20 languages|20种语言翻译; style guides|文风指南

customer-support / Customer Support|客户服务 / desk answer harbor ticket care relay assist triage helm hail
  ai customer service|ai客服; ai chatbot for website|网站客服机器人; helpdesk ai|工单系统; ai phone agent|ai电话客服; knowledge base ai|知识库ai; live chat software|在线客服
  support chatbot|客服机器人; answer customer questions around the clock|全天候回答客户问题; with sources|回答有出处 / online shops|电商卖家; software companies|软件公司; travel agencies|旅行社 / answers with sources|带出处的回答; handover to people|转人工; satisfaction reports|满意度报告
  help desk|工单系统; sort and route tickets|自动分类并分派工单; urgent ones first|紧急工单优先 / support teams|客服团队; IT departments|IT部门; universities|高校 / ticket triage|工单分流; macro suggestions|快捷回复建议; deadline alerts|时限提醒
  phone agent|电话客服系统; take calls and book appointments|接听电话并安排预约; day and night|不分昼夜 / clinics|诊所; restaurants|餐厅; repair shops|维修店 / call transcripts|通话文稿; calendar booking|日历预约; call transfer|电话转接
  knowledge base|知识库; keep help articles up to date|及时更新帮助文档; based on real questions|依据真实提问 / software companies|软件公司; support teams|客服团队; hardware makers|硬件厂商 / article drafts|文章草稿; search analytics|搜索分析; outdated-page alerts|过期页面提醒
  reply assistant|回复助手; draft replies and have them approved|起草回复并交人确认; in the customer's language|用客户的语言 / support teams|客服团队; banks|银行; insurers|保险公司 / tone control|语气控制; policy checks|合规检查; message translation|消息翻译

education / Education|教育 / tutor study lesson scholar primer quiz cram syllabus campus pupil
  ai homework helper|作业辅导; ai math solver|ai解题; flashcard maker|记忆卡片; ai tutor|ai家教; language learning ai|ai学外语; quiz generator|出题工具
  homework tutor|作业辅导工具; work through homework step by step|一步步完成作业; without giving the answer away|不直接给答案 / schoolchildren|中小学生; parents|家长; after-school clubs|课后托管班 / step-by-step hints|分步提示; handwriting input|手写输入; progress reports|学习报告
  flashcard app|记忆卡片应用; turn notes into flashcards|把笔记变成记忆卡片; shown again at the right moment|按记忆规律复习 / students|学生; medical students|医学生; language learners|外语学习者 / spaced repetition|间隔复习; picture cards|图片卡片; shared decks|共享卡组
  language tutor|外语陪练应用; practise speaking a new language|练习外语口语; with gentle corrections|温和纠错 / language learners|外语学习者; travellers|旅行者; expats|外派人员 / pronunciation scores|发音评分; role plays|情景对话; vocabulary lists|生词本
  lesson planner|备课工具; plan lessons and write quizzes|备课并出题; in line with the curriculum|贴合课程标准 / teachers|教师; private tutors|家教; training centres|培训机构 / lesson templates|教案模板; quiz export|试题导出; class dashboards|班级看板
  math solver|数学解题工具; solve math problems from a photo|拍照解数学题; with every step shown|步骤完整 / schoolchildren|中小学生; engineering students|工科学生; math teachers|数学教师 / handwriting input|手写输入; function graphs|函数图像; practice problems|同类练习

data-analysis / Data Analysis|数据分析 / query chart metric cube pivot ledger table plot matrix axis
  ai data analysis|ai数据分析; excel ai|ai表格; chart maker|图表生成; csv to dashboard|csv生成看板; ai sql|自然语言查询; forecasting tool|预测工具
  data analyst|数据分析工具; answer business questions in plain words|用自然语言回答业务问题; charts included|自带图表 / small companies|小企业; product managers|产品经理; sales teams|销售团队 / follow-up questions|追问; scheduled reports|定时报告; warehouse connectors|数仓连接器
  spreadsheet assistant|表格助手; write formulas and clean up tables|编写公式、整理表格; right in the sheet|就在表格里 / accountants|会计师; office managers|行政人员; analysts|分析师 / formula explanations|公式解释; data cleaning|数据清洗; pivot suggestions|透视表建议
  dashboard builder|看板搭建工具; turn CSV files into dashboards|把CSV文件变成看板; with a single upload|上传即得 / small companies|小企业; agencies|代理商; nonprofits|公益组织 / chart suggestions|图表推荐; public links|公开链接; scheduled reports|定时报告
  forecasting tool|预测工具; forecast sales and stock|预测销量与库存; with margins of error|附误差区间 / finance teams|财务团队; retailers|零售商; manufacturers|制造企业 / scenario planning|情景测算; seasonality detection|季节性识别; accuracy reports|准确率报告
  feedback analyser|反馈分析工具; sort customer feedback by theme|按主题归类客户反馈; thousands of comments at once|一次处理数千条评论 / product managers|产品经理; market researchers|市场研究人员; hotels|酒店 / theme detection|主题识别; sentiment scores|情感评分; quote search|引语检索

search-and-research / Search & Research|搜索与研究 / seek trace scout probe quest index delve atlas citation archive
  ai search engine|ai搜索; research assistant ai|科研助手; literature review ai|文献综述; ai answer engine|ai问答; paper summarizer|论文总结; fact checker|事实核查
  answer engine|问答搜索引擎; get answers with sources|获得有出处的答案; without ads|没有广告 / students|学生; journalists|记者; engineers|工程师 / citations|引用出处; follow-up questions|追问; source filters|来源筛选
  literature review tool|文献综述工具; find and compare papers|查找并比较论文; with every claim cited|每个论断都有引用 / researchers|研究人员; doctoral students|博士生; librarians|图书馆员 / a paper library|文献库; citation export|引文导出; study tables|研究对照表
  market research tool|市场调研工具; turn scattered sources into a briefing|把分散的资料整理成简报; overnight|一夜完成 / analysts|分析师; consultants|咨询顾问; investors|投资人 / deep research reports|深度研究报告; saved searches|搜索订阅; company profiles|公司档案
  fact checker|事实核查工具; check claims against reliable sources|用可靠来源核实说法; with the evidence shown|证据一并列出 / newsrooms|编辑部; publishers|出版社; teachers|教师 / claim detection|论断识别; source ratings|来源评级; archive search|存档检索
  paper reader|论文阅读助手; make sense of difficult papers|读懂艰深的论文; figures included|图表也能解读 / students|学生; engineers|工程师; science writers|科普作者 / term explanations|术语解释; figure reading|图表解读; reading lists|阅读清单

translation / Translation|翻译 / lingua glossa tongue idiom dialect ferry bridge babel phrase lexis
  ai translator|ai翻译; document translation|文档翻译; subtitle translator|字幕翻译; live translation|实时翻译; manga translator|漫画翻译; pdf translator|pdf翻译
  document translator|文档翻译工具; translate documents without breaking the layout|翻译文档并保留排版; in 60 languages|支持60种语言 / export companies|外贸企业; law firms|律师事务所; universities|高校 / PDF import|PDF导入; glossaries|术语表; translation memory|翻译记忆
  subtitle translator|字幕翻译工具; translate and time subtitles|翻译字幕并对齐时间轴; ready to upload|可直接上传 / video creators|视频创作者; streaming services|流媒体平台; online teachers|网课教师 / timing correction|时间轴校正; reading-speed checks|阅读速度检查; bilingual subtitles|双语字幕
  live interpreter|实时口译工具; understand conversations as they happen|实时听懂对话; both ways|双向互译 / travellers|旅行者; conference organisers|会议主办方; hospitals|医院 / bilingual captions|双语字幕; offline mode|离线模式; conversation history|对话记录
  comic translator|漫画翻译工具; translate comics and redo the lettering|翻译漫画并重新嵌字; page by page|逐页完成 / publishers|出版社; comic readers|漫画读者; web comic artists|网络漫画作者 / speech-bubble detection|对话框识别; font matching|字体匹配; sound-effect notes|拟声词注释
  translation workbench|翻译工作台; translate faster and keep terms consistent|加快翻译、统一术语; with every suggestion open to edits|每条建议都可修改 / freelance translators|自由译者; translation agencies|翻译公司; publishers|出版社 / translation memory|翻译记忆; formality control|语体控制; quality checks|质量检查

healthcare / Healthcare|医疗健康 / medic vital clinic balm pulse remedy tonic mend ward aster
  ai medical scribe|ai病历; symptom checker|症状自查; ai therapy|ai心理咨询; meal planner ai|ai食谱; ai fitness coach|ai健身教练; sleep tracker ai|睡眠分析
  medical scribe|病历助手; turn consultations into clinical notes|把问诊变成病历; before the next patient comes in|下一位患者前完成 / doctors|医生; clinics|诊所; physiotherapists|理疗师 / visit summaries|就诊摘要; coding suggestions|诊断编码建议; patient letters|患者信函
  symptom checker|症状自查工具; describe symptoms and learn where to turn|描述症状、了解就诊科室; in plain language|通俗易懂 / patients|患者; parents|家长; carers|护理者 / a symptom diary|症状日记; emergency warnings|急症提醒; summaries for the doctor|就诊前小结
  meal planner|饮食计划工具; plan meals around health goals|按健康目标规划饮食; shopping list included|自带购物清单 / families|家庭用户; people with diabetes|糖尿病患者; dietitians|营养师 / meal photos|拍照记饮食; nutrient totals|营养统计; recipe swaps|食谱替换
  fitness coach|健身教练应用; follow training plans that adapt|按自适应计划训练; week by week|每周更新 / runners|跑步者; gym members|健身会员; physiotherapy patients|康复患者 / wearables import|穿戴设备导入; form checks|动作检查; recovery scores|恢复评分
  mood journal|情绪日记应用; notice moods and what triggers them|觉察情绪及其诱因; in two minutes a day|每天两分钟 / students|学生; new parents|新手父母; therapy patients|心理咨询来访者 / mood charts|情绪曲线; breathing exercises|呼吸练习; session notes|咨询笔记

legal-and-finance / Legal & Finance|法律与金融 / clause brief counsel deed audit mint vault treaty tithe notary
  ai contract review|合同审查; ai lawyer|ai法律咨询; ai bookkeeping|ai记账; invoice scanner|发票识别; ai stock analysis|ai选股; tax assistant ai|报税助手
  contract reviewer|合同审查工具; review contracts and mark the risks|审查合同并标出风险; clause by clause|逐条检查 / law firms|律师事务所; in-house lawyers|企业法务; procurement teams|采购团队 / redlining|修订标注; a clause library|条款库; risk scores|风险评分
  bookkeeping assistant|记账助手; sort receipts and post entries|整理票据并入账; ready for the accountant|随时可交会计 / freelancers|自由职业者; small companies|小企业; restaurants|餐厅 / receipt capture|票据采集; bank import|银行流水导入; an audit trail|审计记录
  tax assistant|报税助手; prepare tax returns|准备报税资料; with every deduction explained|每项抵扣都有说明 / freelancers|自由职业者; families|家庭用户; tax advisers|税务顾问 / deadline reminders|截止提醒; receipt capture|票据采集; tax estimates|税额估算
  stock research tool|股票研究工具; read filings and earnings calls|解读财报与业绩会; boiled down to one page|浓缩成一页 / private investors|个人投资者; fund managers|基金经理; analysts|分析师 / filing alerts|公告提醒; peer comparison|同业对比; earnings summaries|业绩摘要
  legal assistant|法律助手; draft letters and understand the law|起草函件、看懂法条; with references|附法条出处 / tenants|租户; small companies|小企业; legal aid offices|法律援助机构 / letter templates|函件模板; case search|案例检索; deadline calculation|期限计算
`;

/** Ids follow the order of the table, so only append sectors. */
export const SECTORS: readonly Sector[] = TABLE.trim()
  .split("\n\n")
  .map((block) => {
    const [head = "", terms = "", ...kinds] = block.split("\n");
    const [slug = "", name = "", endings = ""] = head.split(" / ");
    return { slug, name: pair(name), endings: endings.split(" "), terms: pairs(terms), kinds: kinds.map(readKind) };
  });

function readKind(line: string): ProductKind {
  const [[noun, does, benefit] = [], audiences = [], features = []] = line.split(" / ").map(pairs);
  if (noun === undefined || does === undefined || benefit === undefined) throw new RangeError(`incomplete: ${line}`);
  return { noun, does, benefit, audiences, features };
}
